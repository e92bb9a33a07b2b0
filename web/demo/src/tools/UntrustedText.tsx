export { UntrustedText } from '@adk-stream/client/react/parts';
