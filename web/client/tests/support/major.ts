/** Which major of the AI SDK is tested: version 7 has a transport that 6 lacks. */
import * as ai from 'ai';

export const isVersion7 = 'WebSocketChatTransport' in ai;
