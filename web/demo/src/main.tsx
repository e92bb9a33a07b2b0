import './app/withoutEval.ts';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Page } from './app/Page.tsx';
import { applyTheme } from './app/theme.ts';
import './styles.css';

applyTheme();

const root = document.getElementById('root');
if (root === null) {
  throw new Error('index.html has no #root');
}

createRoot(root).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
