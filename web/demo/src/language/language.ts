/** Which language the page speaks: the one that was chosen, or the browser's. */
import { createContext, useContext } from 'react';
import { type Setting, setting } from '../app/setting.ts';
import { en, type Words } from './en.ts';
import { ja } from './ja.ts';

export type Language = 'en' | 'ja';

const browsers: Language = navigator.language.startsWith('ja') ? 'ja' : 'en';

export const language: Setting<Language> = setting('language', ['en', 'ja'], browsers);

export const dictionary: Record<Language, Words> = { en, ja };

export const LanguageContext = createContext<Language>('en');

export function useWords(): Words {
  return dictionary[useContext(LanguageContext)];
}

/** For what is not a component: tools that speak to the agent, and so to the person. */
export function words(): Words {
  return dictionary[language.get()];
}
