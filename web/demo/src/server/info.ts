/** Who answers, known to every part of the page. */
import { createContext } from 'react';
import type { Info } from './api.ts';

export const unknownInfo: Info = { agent: 'agent', audioInput: false, principal: '' };

export const InfoContext = createContext<Info>(unknownInfo);
