/** What a text hides from its reader, by the names of this page. */
export {
  boundedPieces as bounded,
  escapeUntrusted as escaped,
  type UntrustedPiece as Piece,
  untrustedPieces as piecesOf,
  untrustedPieceText as written,
} from '@adk-stream/client';
