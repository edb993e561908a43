import type { Button, KnownBlock } from '@slack/web-api'
import fc from 'fast-check'
import { actions, button, context, divider, fields, header, sectionWithButton, wholeSection } from '../../../src/slack/blocks.ts'
import { escapeMrkdwn } from '../../../src/slack/text.ts'
import { hostileText } from '../text/hostile-text.ts'

export const hostileWords = hostileText.map(escapeMrkdwn)
export const idUpTo = (max: number) => fc.string({ minLength: 1, maxLength: max })

const anyButton = fc
  .record({
    text: hostileText,
    actionId: idUpTo(255),
    value: idUpTo(2000),
    style: fc.constantFrom('primary' as const, 'danger' as const),
    confirm: fc.record({ title: hostileText, text: hostileWords, confirm: hostileText, deny: hostileText }),
  })
  .map(button)

const withDistinctIds = (buttons: Button[]) => buttons.map((one, index) => ({ ...one, action_id: `press-${index}` }))

/** Every kind of block that Lockkeeper builds, made of hostile text. */
export const anyBlocks: fc.Arbitrary<KnownBlock[]> = fc.oneof(
  hostileText.map((text) => [header(text)]),
  hostileWords.map(wholeSection),
  fc.array(hostileWords, { maxLength: 25 }).map(fields),
  fc.array(hostileWords, { maxLength: 25 }).map(context),
  fc.constant<KnownBlock[]>([divider()]),
  fc.array(anyButton, { maxLength: 30 }).map((buttons) => actions(withDistinctIds(buttons))),
  fc.tuple(hostileWords, anyButton).map(([text, accessory]) => [sectionWithButton(text, accessory)]),
)

/** Finds every text that Slack reads as mrkdwn. */
export function mrkdwnIn(value: unknown): { text: string; verbatim: unknown }[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'type' in value && value.type === 'mrkdwn' ? [value as unknown as { text: string; verbatim: unknown }] : []
  return [...own, ...Object.values(value).flatMap(mrkdwnIn)]
}
