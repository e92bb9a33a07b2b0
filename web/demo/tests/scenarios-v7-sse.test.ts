import { scenarios } from './scenarios.ts';

scenarios(7, 'sse');
