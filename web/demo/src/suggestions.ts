/** Something to say, and what is special about it. */
export interface Suggestion {
  text: string;
  note: string;
}

/** What the demo understands, in both of its languages. */
export const suggestions: { language: string; title: string; items: Suggestion[] }[] = [
  {
    language: 'en',
    title: 'Try one of these',
    items: [
      { text: 'Send $20 to Sam', note: 'asks you first' },
      { text: 'Send $30 to Alice and $40 to Bob', note: 'two questions at once' },
      { text: 'What is the weather in Tokyo?', note: 'runs on the server' },
      { text: 'Where am I?', note: 'asks, then this page looks' },
      { text: 'Play track 1', note: 'this page plays' },
      { text: 'Book a flight to Oslo', note: 'asks twice as it works' },
      { text: 'Set the mood for London', note: 'server and page together' },
      { text: 'Write a report about tea', note: 'comes back later' },
    ],
  },
  {
    language: 'ja',
    title: '日本語でも',
    items: [
      { text: '花子さんに50ドル送金して', note: '先に確認' },
      { text: 'Aliceに30ドルとBobに40ドルを送って', note: '確認が二つ' },
      { text: '東京の天気を教えて', note: 'サーバーで実行' },
      { text: '現在地を教えて', note: '確認後、このページで' },
      { text: 'BGMをトラック2に変えて', note: 'このページで再生' },
      { text: 'オスロへのフライトを予約して', note: '途中で二回確認' },
      { text: '東京の雰囲気にして', note: 'サーバーとページで' },
      { text: 'お茶についてのレポートを書いて', note: '結果は後から' },
    ],
  },
];
