import { createRoot } from 'react-dom/client';
import { Chat, type StoredChat } from './Chat.tsx';

// The address names the chat, so that a reload finds it again.
location.hash ||= crypto.randomUUID();
const id = location.hash.slice(1);

const response = await fetch(`/api/chat/${id}`);
const stored: StoredChat = response.ok ? await response.json() : { messages: [], seq: 0 };

const page = document.getElementById('page');
if (page !== null) {
  createRoot(page).render(<Chat id={id} stored={stored} />);
}
