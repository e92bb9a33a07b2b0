import { type ConsentButtonProps, ConsentButton as Unstyled } from '@adk-stream/client/react/parts';
import { PLACES } from './consentPlaces.ts';

/** The package's button, as this page looks and finds its cards. */
export function ConsentButton(props: Omit<ConsentButtonProps, 'className' | 'places'>) {
  return <Unstyled {...props} className="button primary consent" places={PLACES} />;
}
