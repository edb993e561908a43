import type { Button, KnownBlock } from '@slack/web-api'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  actions,
  button,
  context,
  divider,
  externalSelect,
  fields,
  header,
  input,
  message,
  option,
  plainTextInput,
  sectionWithButton,
  wholeSection,
} from '../../src/slack/blocks.ts'
import { checkboxes, radioButtons, staticSelect } from '../../src/slack/choices.ts'
import { modal } from '../../src/slack/modal.ts'
import { table } from '../../src/slack/table.ts'
import { escapeMrkdwn, mrkdwn } from '../../src/slack/text.ts'
import { charactersIn } from '../sandbox/slack/characters-in.ts'
import { validateMessageBlocks, validateOptions, validateView } from '../sandbox/slack/validate-blocks.ts'
import { hostileText } from './hostile-text.ts'

const words = hostileText.map(escapeMrkdwn)
const idOf = (max: number) => fc.string({ minLength: 1, maxLength: max })
const opt = fc.record({ text: hostileText, value: idOf(74), description: hostileText }).map(option)
const opts = fc.array(opt, { maxLength: 130 })

const someButton = fc
  .record({
    text: hostileText,
    actionId: idOf(255),
    value: idOf(2000),
    style: fc.constantFrom('primary' as const, 'danger' as const),
    confirm: fc.record({ title: hostileText, text: words, confirm: hostileText, deny: hostileText }),
  })
  .map(button)

const distinct = (buttons: Button[]) => buttons.map((one, index) => ({ ...one, action_id: `press-${index}` }))

const someBlocks: fc.Arbitrary<KnownBlock[]> = fc.oneof(
  hostileText.map((text) => [header(text)]),
  words.map(wholeSection),
  fc.array(words, { maxLength: 25 }).map(fields),
  fc.array(words, { maxLength: 25 }).map(context),
  fc.constant<KnownBlock[]>([divider()]),
  fc.array(someButton, { maxLength: 30 }).map((buttons) => actions(distinct(buttons))),
  fc.tuple(words, someButton).map(([text, accessory]) => [sectionWithButton(text, accessory)]),
  fc
    .record({
      header: fc.array(hostileText, { maxLength: 25 }),
      rows: fc.array(fc.array(hostileText, { maxLength: 25 }), { maxLength: 8 }),
    })
    .map(table),
)

const someElement = fc.oneof(
  fc
    .record({ actionId: idOf(255), placeholder: hostileText, initialValue: hostileText, maxLength: fc.integer(), multiline: fc.boolean() })
    .map(plainTextInput),
  fc.record({ actionId: idOf(255), placeholder: hostileText, initialOption: opt }).map(externalSelect),
  fc.record({ actionId: idOf(255), placeholder: hostileText, options: opts, initialOption: opt }).map(staticSelect),
  fc.record({ actionId: idOf(255), options: opts, initialOptions: opts }).map(checkboxes),
  fc.record({ actionId: idOf(255), options: opts, initialOption: opt }).map(radioButtons),
)
const someInput = fc.record({
  label: hostileText,
  hint: hostileText,
  optional: fc.boolean(),
  dispatchAction: fc.boolean(),
  element: someElement,
})

/** Every text in a structure that Slack reads as mrkdwn. */
function mrkdwnIn(value: unknown): { text: string; verbatim: unknown }[] {
  if (typeof value !== 'object' || value === null) return []
  const own = 'type' in value && value.type === 'mrkdwn' ? [value as unknown as { text: string; verbatim: unknown }] : []
  return [...own, ...Object.values(value).flatMap(mrkdwnIn)]
}

describe('a message', () => {
  it('keeps every limit of Slack, whatever it is made of', () => {
    fc.assert(
      fc.property(words, fc.array(someBlocks, { maxLength: 12 }), (text, parts) => {
        const sent = message({ text, blocks: parts.flat() })

        expect(validateMessageBlocks(sent.blocks).errors).toEqual([])
        expect(charactersIn(sent.blocks)).toBeLessThanOrEqual(10_000)
        expect(sent.blocks.filter(({ type }) => type === 'table').length).toBeLessThanOrEqual(1)
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

  it('says how much of it does not fit, and loses the buttons at its end first', () => {
    const lines = Array.from({ length: 52 }, (_, index) => mrkdwn`line ${index + 1}`)
    const approve = button({ text: 'Approve', actionId: 'approve', value: 'r1' })

    const { blocks } = message({ text: mrkdwn`lines`, blocks: [...lines.flatMap(wholeSection), ...actions([approve])] })

    expect(blocks).toHaveLength(50)
    expect(blocks.slice(-2)).toEqual([
      ...wholeSection(mrkdwn`line 49`),
      ...context([mrkdwn`:warning: 4 more parts do not fit in here and are not shown.`]),
    ])
  })

  it('holds 10,000 characters at most, says what is left out, and shows all that it can from its beginning', () => {
    const sections = (count: number) => Array.from({ length: count }, (_, index) => wholeSection(mrkdwn`${index}${'x'.repeat(999)}`)).flat()
    const shown = (blocks: KnownBlock[]) => message({ text: mrkdwn`many`, blocks }).blocks

    expect(shown(sections(10))).toEqual(sections(10))
    expect(shown(sections(11))).toEqual([
      ...sections(9),
      ...context([mrkdwn`:warning: 2 more parts do not fit in here and are not shown.`]),
    ])
    expect(shown([...sections(10), ...actions([button({ text: 'Approve', actionId: 'approve', value: 'r1' })])])).toHaveLength(10)
  })

  it('counts every text that is read, and no values, which nobody reads', () => {
    const value = 'v'.repeat(2_000)
    const buttons = Array.from({ length: 20 }, (_, index) => button({ text: 'Turn', actionId: `turn-${index}`, value }))
    const facts = Array.from({ length: 10 }, () => mrkdwn`${'f'.repeat(1_200)}`)

    expect(message({ text: mrkdwn`buttons`, blocks: actions(buttons) }).blocks).toEqual(actions(buttons))
    expect(message({ text: mrkdwn`facts`, blocks: [header('Facts'), ...fields(facts)] }).blocks).toEqual([
      header('Facts'),
      ...context([mrkdwn`:warning: 1 more parts do not fit in here and are not shown.`]),
    ])
  })

  it('has something to read out even when there is nothing to say', () => {
    expect(message({ text: mrkdwn` `, blocks: wholeSection(mrkdwn``) })).toMatchInlineSnapshot(`
      {
        "blocks": [
          {
            "text": {
              "text": "–",
              "type": "mrkdwn",
              "verbatim": true,
            },
            "type": "section",
          },
        ],
        "text": "–",
      }
    `)
  })
})

describe('a modal', () => {
  it('keeps every limit of Slack, whatever it is made of', () => {
    const texts = fc.record({ title: hostileText, submit: hostileText.filter((text) => text !== ''), close: hostileText })
    fc.assert(
      fc.property(texts, fc.array(someInput, { maxLength: 8 }), fc.array(someBlocks, { maxLength: 5 }), (names, inputs, parts) => {
        const blocks = [...parts.flat(), ...inputs.map((one, index) => input({ ...one, blockId: `input-${index}` }))]

        const view = modal({ ...names, callbackId: 'form', metadata: '{}', blocks })

        expect(validateView(view, 'modal').errors).toEqual([])
      }),
      { numRuns: 200 },
    )
  })

  it('refuses metadata that Slack would not take, because half of it means nothing', () => {
    expect(() => modal({ title: 'Move', blocks: [], metadata: 'x'.repeat(3001) })).toThrow(
      "a modal's metadata has 3001 characters, and Slack takes 1 to 3000",
    )
  })
})

describe('what people decide by', () => {
  it('is shown whole, however long it is', () => {
    fc.assert(
      fc.property(fc.array(words, { maxLength: 12 }), (facts) => {
        const shown = mrkdwnIn([...facts.flatMap(wholeSection), ...fields(facts)]).map(({ text }) => text)

        const all = [...facts, ...facts].map(({ text }) => text.trim() || '–')
        expect(shown.join('').replace(/\s/g, '')).toBe(all.join('').replace(/\s/g, ''))
      }),
    )
  })
})

describe('ids and values', () => {
  it.each([
    ['the value of a button', () => button({ text: 'Approve', actionId: 'approve', value: 'x'.repeat(2001) })],
    ['the id of an action', () => button({ text: 'Approve', actionId: '', value: 'r1' })],
    ['the value of an option', () => option({ text: 'web-1', value: 'x'.repeat(75) })],
    ['the id of a block', () => actions([button({ text: 'Approve', actionId: 'approve', value: 'r1' })], 'x'.repeat(256))],
  ])('are refused rather than cut: %s', (_, build) => {
    expect(build).toThrow(RangeError)
  })
})

describe('choices', () => {
  it('are options that Slack takes', () => {
    fc.assert(
      fc.property(fc.array(opt, { maxLength: 100 }), (options) => {
        expect(validateOptions({ options }).errors).toEqual([])
      }),
    )
  })

  it('say how many are not shown, in an option that is no choice', () => {
    const options = Array.from({ length: 12 }, (_, index) => option({ text: `web-${index}`, value: `sv_${index}` }))

    const { options: offered } = radioButtons({ actionId: 'server', options })

    expect(offered).toHaveLength(10)
    expect(offered.at(-1)).toEqual(option({ text: '3 more are not shown', value: 'not-a-choice' }))
  })

  it('start with an option only where it is offered', () => {
    const [web1, web2] = [option({ text: 'web-1', value: 'sv_1WFgWmkF9Mzju' }), option({ text: 'web-2', value: 'sv_22mUQSvUfeqdv' })]

    expect(staticSelect({ actionId: 'server', options: [web1], initialOption: web1 }).initial_option).toEqual(web1)
    expect(staticSelect({ actionId: 'server', options: [web1], initialOption: web2 }).initial_option).toBeUndefined()
  })
})

describe('a table', () => {
  it('says how many rows and columns do not fit', () => {
    const rows = Array.from({ length: 120 }, (_, index) => Array.from({ length: 22 }, () => `${index}`))

    const [shown, note] = table({ header: ['Name'], rows })

    expect(shown).toMatchObject({ rows: { length: 100 } })
    expect(note).toEqual(context([mrkdwn`21 more rows do not fit into this table.`, mrkdwn`2 more columns do not fit into this table.`])[0])
  })

  it('fills what is missing, and keeps rich text', () => {
    const rich = {
      type: 'rich_text' as const,
      elements: [{ type: 'rich_text_section' as const, elements: [{ type: 'user' as const, user_id: 'U0ADA00001' }] }],
    }

    expect(table({ header: ['Name', 'Asked by'], rows: [['web-1', rich], ['']] })).toMatchInlineSnapshot(`
      [
        {
          "rows": [
            [
              {
                "text": "Name",
                "type": "raw_text",
              },
              {
                "text": "Asked by",
                "type": "raw_text",
              },
            ],
            [
              {
                "text": "web-1",
                "type": "raw_text",
              },
              {
                "elements": [
                  {
                    "elements": [
                      {
                        "type": "user",
                        "user_id": "U0ADA00001",
                      },
                    ],
                    "type": "rich_text_section",
                  },
                ],
                "type": "rich_text",
              },
            ],
            [
              {
                "text": "–",
                "type": "raw_text",
              },
              {
                "text": "–",
                "type": "raw_text",
              },
            ],
          ],
          "type": "table",
        },
      ]
    `)
  })
})

describe('a button', () => {
  it('can ask before the press counts', () => {
    const confirm = { title: 'Revoke the key?', text: mrkdwn`${'ci <deploy>'} stops working at once.`, confirm: 'Revoke', deny: 'Keep' }

    expect(button({ text: 'Revoke', actionId: 'revoke', value: 'k1', style: 'danger', confirm })).toMatchInlineSnapshot(`
      {
        "action_id": "revoke",
        "confirm": {
          "confirm": {
            "emoji": false,
            "text": "Revoke",
            "type": "plain_text",
          },
          "deny": {
            "emoji": false,
            "text": "Keep",
            "type": "plain_text",
          },
          "text": {
            "text": "ci &lt;deploy&gt; stops working at once.",
            "type": "mrkdwn",
            "verbatim": true,
          },
          "title": {
            "emoji": false,
            "text": "Revoke the key?",
            "type": "plain_text",
          },
        },
        "style": "danger",
        "text": {
          "emoji": false,
          "text": "Revoke",
          "type": "plain_text",
        },
        "type": "button",
        "value": "k1",
      }
    `)
  })
})
