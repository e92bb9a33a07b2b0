import { createRoot } from 'react-dom/client';
import { Chat } from './Chat.tsx';

// The address names the chat, so that a reload finds it again.
const isNew = location.hash === '';
location.hash ||= crypto.randomUUID();

const page = document.getElementById('page');
if (page !== null) {
  createRoot(page).render(<Chat id={location.hash.slice(1)} isNew={isNew} />);
}
