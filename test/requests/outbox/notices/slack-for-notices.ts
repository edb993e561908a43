import type { Posted, SearchResult } from '../../../../src/slack/web-api.ts'

export const sent: Posted = { is: 'sent', ts: '1.1', channelId: 'C1' }
export const lost: Posted = { is: 'unknown', problem: 'HTTP status 503' }

/** Slack, as notices need it. `answers`: what it answers to posts in turn; the last one is repeated. `found`: what each search finds. */
export function slackFor(answers: Posted[], found: SearchResult = { is: 'absent' }) {
  const posts: number[] = []
  const texts: string[] = []
  const searches: string[] = []
  const messenger = {
    async post(_: unknown, { text }: { text: string }) {
      posts.push(performance.now())
      texts.push(text)
      return answers[Math.min(posts.length, answers.length) - 1] ?? sent
    },
    async find({ key }: { key: string }) {
      searches.push(key)
      return found
    },
  }
  return { messenger, posts, texts, searches }
}
