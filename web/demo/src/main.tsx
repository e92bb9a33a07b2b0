import './app/withoutEval.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Boundary } from './app/Boundary.tsx';
import { Page } from './app/Page.tsx';
import { applyTheme } from './app/theme.ts';
import { dictionary, language } from './language/language.ts';
import './styles.css';

applyTheme();

const root = document.getElementById('root');
if (root === null) {
  throw new Error('index.html has no #root');
}

/** What is left where nothing else could be drawn. */
function UnshownPage() {
  return (
    <main className="page">
      <p role="alert" className="empty-note">
        {dictionary[language.get()].unshownPage}
      </p>
    </main>
  );
}

createRoot(root).render(
  <StrictMode>
    <Boundary of="page" instead={() => <UnshownPage />}>
      <Page />
    </Boundary>
  </StrictMode>,
);
