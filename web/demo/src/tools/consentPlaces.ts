/** How a card says to its consent button what has to be in sight. */

/** The class of a card, and of what is at the end of its question and of its fields. */
export const CARD = 'approval';
export const END = 'read-to-here';

/** What is asked, and about what: boxes that scroll where they hold more than there is room for. */
export const PLACES = {
  card: `.${CARD}`,
  shown: '.question, .ledger-box, .edit-fields',
  end: `.${END}`,
};
