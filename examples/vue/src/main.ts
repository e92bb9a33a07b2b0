import { createApp } from 'vue';
import Chat from './Chat.vue';

// The address names the chat, so that a reload finds it again.
const isNew = location.hash === '';
location.hash ||= crypto.randomUUID();

createApp(Chat, { id: location.hash.slice(1), isNew }).mount('#page');
