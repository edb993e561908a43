import type { KnownBlock } from '@slack/web-api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  actions,
  button,
  context,
  divider,
  header,
  input,
  message,
  modal,
  option,
  plainTextInput,
  reasonBlocks,
  sectionWithButton,
  wholeSection,
} from '../../src/slack/blocks.ts'
import { checkboxes, externalSelect, radioButtons, staticSelect } from '../../src/slack/pickers.ts'
import { escapeMrkdwn, mrkdwn } from '../../src/slack/text.ts'
import { charactersIn, problemsWithBlocks, problemsWithView } from '../sandbox/slack/validate-blocks.ts'
import { hostileText } from './hostile-text.ts'

const hostileWords = hostileText.map(escapeMrkdwn)
const idUpTo = (max: number) => fc.string({ minLength: 1, maxLength: max })

const anyButton = fc
  .record({
    text: hostileText,
    actionId: idUpTo(255),
    value: idUpTo(2000),
    style: fc.constantFrom('primary' as const, 'danger' as const),
    confirm: fc.record({ title: hostileText, text: hostileWords, confirm: hostileText, deny: hostileText }),
  })
  .map(button)

/** Every kind of block that Lockkeeper builds, made of hostile text. */
const anyBlocks: fc.Arbitrary<KnownBlock[]> = fc.oneof(
  hostileText.map((text) => [header(text)]),
  hostileWords.map(wholeSection),
  fc.array(hostileWords, { maxLength: 25 }).map(context),
  fc.constant<KnownBlock[]>([divider()]),
  fc.array(anyButton, { maxLength: 25 }).map((buttons) => actions(buttons.map((one, index) => ({ ...one, action_id: `press-${index}` })))),
  fc.tuple(hostileWords, anyButton).map(([text, accessory]) => [sectionWithButton(text, accessory)]),
)

const anyOptions = fc.array(fc.record({ text: hostileText, value: idUpTo(74), description: hostileText }).map(option), {
  minLength: 1,
  maxLength: 130,
})

const anyElement = fc.oneof(
  fc.record({ actionId: idUpTo(255), initialValue: hostileText, multiline: fc.boolean() }).map(plainTextInput),
  fc
    .tuple(fc.record({ actionId: idUpTo(255), placeholder: hostileText }), anyOptions)
    .map(([picker, [initialOption]]) => externalSelect({ ...picker, initialOption })),
  fc.tuple(idUpTo(255), anyOptions).map(([id, [one = option({ text: '', value: '1' })]]) => radioButtons(id, [one], one)),
  fc.tuple(idUpTo(255), anyOptions).map(([actionId, options]) => checkboxes(actionId, options, options.slice(0, 1))),
)

/** Finds every text that Slack reads as mrkdwn. */
function mrkdwnIn(value: unknown): { text: string; verbatim: unknown }[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'type' in value && value.type === 'mrkdwn' ? [value as unknown as { text: string; verbatim: unknown }] : []
  return [...own, ...Object.values(value).flatMap(mrkdwnIn)]
}

describe('a message', () => {
  it('stays within every limit of Slack, whatever it is built from', () => {
    fc.assert(
      fc.property(fc.array(anyBlocks, { maxLength: 12 }), anyBlocks, (parts, early) => {
        const sent = message(parts.flat(), early)

        expect(problemsWithBlocks(sent.blocks)).toEqual([])
        expect(charactersIn(sent.blocks)).toBeLessThanOrEqual(10_000)
        expect(sent.text.length).toBeGreaterThan(0)
        expect(sent.text.length).toBeLessThanOrEqual(4000)
        for (const one of mrkdwnIn(sent.blocks)) {
          expect(one.verbatim).toBe(true)
          expect(one.text).not.toMatch(/[<>]/)
        }
      }),
      { numRuns: 200 },
    )
  })

  it('shows its texts whole, however long they are, if they fit in all', () => {
    const words = hostileWords.filter(({ text }) => text.length < 4_000)
    fc.assert(
      fc.property(fc.array(words, { maxLength: 2 }), (facts) => {
        const shown = mrkdwnIn(message(facts.flatMap(wholeSection)).blocks).map(({ text }) => text)

        const all = facts.map(({ text }) => text.trim() || '–').join('')
        if (all.length < 10_000) expect(shown.join('').replace(/\s/g, '')).toBe(all.replace(/\s/g, ''))
      }),
    )
  })

  const sections = (count: number, size: number) =>
    Array.from({ length: count }, (_, index) => wholeSection(mrkdwn`${index}${'x'.repeat(size)}`)).flat()
  const approve = actions([button({ text: 'Approve', actionId: 'approve', value: 'r1' })])
  const left = (words: string) => context([mrkdwn`:warning: ${words}`])

  it('keeps as many blocks from its beginning as fit, and its buttons, and says how many it leaves out', () => {
    expect(message([...sections(52, 1), ...approve]).blocks).toEqual([
      ...sections(48, 1),
      ...left("4 more parts don't fit here and aren't shown."),
      ...approve,
    ])
    expect(message(sections(10, 999)).blocks).toEqual(sections(10, 999))
    expect(message([...sections(11, 999), ...approve]).blocks).toEqual([
      ...sections(9, 999),
      ...left("2 more parts don't fit here and aren't shown."),
      ...approve,
    ])
  })

  it('counts the texts that people read towards that limit, and not the values of buttons', () => {
    const value = 'v'.repeat(2_000)
    const buttons = Array.from({ length: 20 }, (_, index) => button({ text: 'Turn', actionId: `turn-${index}`, value }))
    expect(message(actions(buttons)).blocks).toEqual(actions(buttons))
  })

  it('says in its text what its blocks say, what is to be read early right after the first block, and nothing twice', () => {
    const early = wholeSection(mrkdwn`*Check first*`)
    const facts = wholeSection(mrkdwn`Server ${'<web-1>'}`)
    const said = message(
      [header('Move a & b'), ...facts, ...reasonBlocks('Reason', '*now* https://a.example/b', []), ...early, divider()],
      early,
    )

    expect(said.text).toBe('Move a &amp; b\n*Check first*\nServer &lt;web-1&gt;\nReason: `*now* https://a.example/b`')
  })

  it('shows a dash in place of empty text, which Slack refuses', () => {
    const text = { type: 'mrkdwn', text: '–', verbatim: true }
    expect(message(wholeSection(mrkdwn``))).toEqual({ text: '–', blocks: [{ type: 'section', text }] })
  })
})

describe('a modal', () => {
  it('stays within every limit of Slack, whatever it is built from', () => {
    const texts = fc.record({ title: hostileText, submit: hostileText.filter((text) => text !== ''), close: hostileText })
    const anyInput = fc.record({ label: hostileText, hint: hostileText, optional: fc.boolean(), element: anyElement })
    fc.assert(
      fc.property(texts, fc.array(anyInput, { maxLength: 8 }), fc.array(anyBlocks, { maxLength: 5 }), (names, inputs, parts) => {
        const blocks = [...parts.flat(), ...inputs.map((one, index) => input({ ...one, blockId: `input-${index}` }))]

        expect(problemsWithView(modal({ ...names, callbackId: 'form', metadata: '{}', blocks }), 'modal')).toEqual([])
      }),
      { numRuns: 200 },
    )
  })
})

const press = { text: 'Approve', actionId: 'approve', value: 'r1' }
const pickerOf = (value: string) => staticSelect({ actionId: 'pick', placeholder: 'Pick', options: [option({ text: 'web-1', value })] })

it.each([
  ['the value of a button', () => message(actions([button({ ...press, value: 'x'.repeat(2001) })]))],
  ['the id of an action', () => message(actions([button({ ...press, actionId: '' })]))],
  ['the id of a block', () => message(actions([button(press)], 'x'.repeat(256)))],
  ['the value of an option', () => message(actions([pickerOf('x'.repeat(75))]))],
  ['the metadata of a form', () => modal({ title: 'Move', blocks: [], metadata: 'x'.repeat(3001) })],
])('an id or a value that Slack would not take throws, because a cut one would mean something else: %s', (_, build) => {
  expect(build).toThrow(RangeError)
})
