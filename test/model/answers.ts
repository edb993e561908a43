import type { OpenView } from '../sandbox/slack/slack.ts'
import type { Answer } from './request-model.ts'

const words: [RegExp, Answer][] = [
  [/^Your approval counts: \d of \d\. It now waits for (one more person|\d more people)\.$/, 'counted'],
  [/^You have approved this already\. It waits for /, 'duplicate'],
  [/^This still waits for a decision/, 'still waiting'],
  [
    /^This was approved( by you| by <@\w+>)? already and is (approved|starting|under way|done|not started|no longer tracked) now\. Your click changed nothing\.$/,
    'too late:approved',
  ],
  [/^This was rejected( by you| by <@\w+>) already\. Your click changed nothing\.$/, 'too late:rejected'],
  [/^<@\w+> has withdrawn this\. Your click changed nothing\.$/, 'too late:withdrawn'],
  [/^This expired before it was decided\. Nothing was done/, 'too late:expired'],
  [/^Guests may not use this bot\./, 'denied:guest'],
  [/^People of other workspaces may not use this bot\./, 'denied:stranger'],
  [/^You asked for this yourself, so another person has to decide it\./, 'denied:self'],
  [/^You are not an approver of this\. .* can decide it\.$/, 'denied:approver'],
  [/^Only <@\w+>, who asked for this, can withdraw it\./, 'denied:owner'],
  [/^You are not among the people who may ask for this here /, 'denied:requester'],
  [/^Something else has been asked for with the same thing since/, 'taken over'],
  [/^This button does not belong to the request that it names/, 'forged'],
  [/^Lockkeeper no longer has this request/, 'unknown'],
  [/^This button is not on the card of this request/, 'stale'],
  [/^I cannot reach my memory \(Redis\) just now\. .* what went through all the same is not done twice\./, 'redis away'],
]

/** Returns what a message of the bot means. Throws for a message that answers no click. */
export function meaningOf(text: string): Answer {
  const found = words.find(([pattern]) => pattern.test(text))
  if (!found) throw new Error(`words that answer no click: ${text}`)
  return found[1]
}

const titles: Record<string, Answer> = {
  'Reject the request': 'form:reject',
  'Break the glass': 'form:break-glass',
  'Move an Elastic IP': 'form:again',
  'Rename virtual machine': 'form:again',
}

/** The same for a modal: a form, or a refusal in its place. */
export function meaningOfView({ title, view }: Pick<OpenView, 'title' | 'view'>): Answer {
  const form = titles[title]
  return form ?? meaningOf(wordsIn(view))
}

export function wordsIn(view: Record<string, unknown>): string {
  const blocks = view.blocks as { text?: { text: string } }[]
  return blocks.map(({ text }) => text?.text ?? '').join(' ')
}
