import { type Suggestion, suggestions } from './suggestions.ts';

interface Props {
  onChoose: (text: string) => void;
}

/** What can be said, to click on. */
export function Suggestions({ onChoose }: Props) {
  return (
    <div className="suggestions">
      {suggestions.map(({ language, title, items }) => (
        <section key={language} lang={language} aria-labelledby={`suggestions-${language}`}>
          <h2 id={`suggestions-${language}`}>{title}</h2>
          <ul>
            {items.map(item => (
              <li key={item.text}>
                <Choice item={item} onChoose={onChoose} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </div>
  );
}

function Choice({ item: { text, note }, onChoose }: { item: Suggestion } & Props) {
  return (
    <button type="button" className="suggestion" onClick={() => onChoose(text)}>
      <span>{text}</span> <small>{note}</small>
    </button>
  );
}
