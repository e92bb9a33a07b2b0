import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { Page } from './Page.tsx';
import './styles/base.css';
import './styles/masthead.css';
import './styles/intro.css';
import './styles/turn-figure.css';
import './styles/conversation.css';
import './styles/tool.css';
import './styles/composer.css';

const root = document.getElementById('root');
if (root === null) {
  throw new Error('index.html has no #root');
}

createRoot(root).render(
  <StrictMode>
    <Page />
  </StrictMode>,
);
