/** Unstyled parts of React, which keep the rules of consent in docs/security.md. */
export { ARMING_MS, CONSENT_PLACES, type ConsentPlaces } from './react/arming.ts';
export { ConsentButton, type ConsentButtonProps } from './react/consent-button.ts';
