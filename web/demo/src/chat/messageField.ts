/** The id of the field for messages, which others may give the focus to. */
export const MESSAGE_FIELD = 'message';
