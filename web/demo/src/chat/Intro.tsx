import {
  BookOpenText,
  CloudSun,
  Coins,
  type LucideIcon,
  MapPin,
  Music2,
  Plane,
  SwatchBook,
  WalletCards,
} from 'lucide-react';
import type { Suggestion } from '../language/en.ts';
import { useWords } from '../language/language.ts';

interface Props {
  onChoose: (text: string) => void;
}

const icons: Record<Suggestion['kind'], LucideIcon> = {
  pay: WalletCards,
  two: Coins,
  location: MapPin,
  music: Music2,
  weather: CloudSun,
  flight: Plane,
  mood: SwatchBook,
  report: BookOpenText,
};

/** The idea in a line, and things to say that show it. */
export function Intro({ onChoose }: Props) {
  const words = useWords();
  return (
    <div className="intro">
      <h1 className="font-display text-4xl leading-tight text-balance sm:text-5xl">
        {words.intro.title}
      </h1>
      <p className="mt-4 max-w-prose text-soft">{words.intro.lead}</p>
      <h2 className="mt-8 mb-2 text-sm font-medium text-soft">{words.intro.try}</h2>
      <ul className="suggestions">
        {words.suggestions.map(({ kind, text, note }) => {
          const Icon = icons[kind];
          return (
            <li key={text}>
              <button type="button" onClick={() => onChoose(text)}>
                <Icon aria-hidden="true" />
                <span className="min-w-0">
                  <span className="block">{text}</span>
                  <span className="block text-sm text-soft">{note}</span>
                </span>
              </button>
            </li>
          );
        })}
      </ul>
    </div>
  );
}
