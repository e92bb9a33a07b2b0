/** Unstyled parts of React, which keep the rules of consent in docs/security.md. */

export { ARMING_MS, CONSENT_PLACES, type ConsentPlaces } from './arming.ts';
export {
  ApprovalCard,
  type ApprovalCardProps,
  type CardProps,
  type ShownApproval,
} from './react/approval-card.tsx';
export { type ServedApproval, useApprovalRecord } from './react/approval-record.ts';
export { ConnectionStatus, type ConnectionStatusProps } from './react/connection-status.tsx';
export { ConsentButton, type ConsentButtonProps } from './react/consent-button.ts';
export { type Delivery, type DeliveryOptions, useDelivery } from './react/delivery.ts';
export { Inbox, type InboxProps } from './react/inbox.tsx';
export { InputFields, type InputFieldsProps } from './react/input-fields.tsx';
export { englishLabels, type PartLabels } from './react/labels.ts';
export {
  type PartIcons,
  type PartName,
  type PartsConfig,
  PartsProvider,
} from './react/parts-context.tsx';
export { QuestionCard, type QuestionCardProps } from './react/question-card.tsx';
export { QuestionForm, type QuestionFormProps } from './react/question-form.tsx';
export { UntrustedText, type UntrustedTextProps } from './react/untrusted-text.tsx';
