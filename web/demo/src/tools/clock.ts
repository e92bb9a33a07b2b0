import { createContext } from 'react';

/** What time it is where that is not now: in a chat that is played again. */
export const ClockContext = createContext<number | undefined>(undefined);
