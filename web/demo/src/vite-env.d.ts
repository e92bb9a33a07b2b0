/// <reference types="vite/client" />

/** The major version of the AI SDK that the page is built with. */
declare const __AI_SDK__: '6' | '7';
