import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { hasTable } from '../../src/slack/interactions.ts'
import { type Listing, listAnswer, listingMessage, PageButton, pageActionIds } from '../../src/slack/listing.ts'
import { escapeMrkdwn, mrkdwn, ownWords } from '../../src/slack/text.ts'
import { readable } from '../messages/readable.ts'
import { charactersIn, problemsWithBlocks } from '../sandbox/slack/validate-blocks.ts'

const listed = { command: 'ip list', args: ['fra'] }
const at = { name: '/infra', ...listed, page: 0 }

function addresses(count: number): Listing {
  return {
    title: mrkdwn`${count} Elastic IPs`,
    rows: Array.from({ length: count }, (_, index) => mrkdwn`203.0.113.${index + 1}`),
    empty: mrkdwn`The account has no Elastic IPs.`,
  }
}

/** Returns what the page buttons carry, by their action ids. */
function pageButtonsOf(message: ReturnType<typeof listingMessage>): Record<string, PageButtonValue> {
  const buttons = message.blocks.flatMap((block) => (block.type === 'actions' ? block.elements : []))
  return Object.fromEntries(
    buttons.map((one) => [one.action_id ?? '', PageButton.parse(JSON.parse('value' in one ? String(one.value) : ''))]),
  )
}
type PageButtonValue = ReturnType<typeof PageButton.parse>

function sectionsOf({ blocks }: ReturnType<typeof listingMessage>): string[] {
  return blocks.flatMap((block) => (block.type === 'section' ? (block.text?.text ?? []) : []))
}

describe('a list', () => {
  it('of one page has no buttons', () => {
    expect(readable(listingMessage({ ...addresses(2), notes: [mrkdwn`One could not be read.`] }, at))).toMatchInlineSnapshot(`
      "*2 Elastic IPs*
      203.0.113.1
      203.0.113.2
      (One could not be read.)
      --- in words ---
      *2 Elastic IPs*
      203.0.113.1
      203.0.113.2
      One could not be read."
    `)
  })

  it('as a table comes with the same in words, where Slack takes no tables', () => {
    const table = { headers: ['IP'], rows: [['203.0.113.1']] }
    const answer = listAnswer({ ...addresses(2), table }, at)
    expect(hasTable(answer) && [answer.table, answer.instead].map(({ blocks }) => blocks.map(({ type }) => type))).toEqual([
      ['data_table'],
      ['section', 'section', 'section'],
    ])
    expect(hasTable(listAnswer(addresses(0), at))).toBe(false)
  })

  it('without rows says so once, and shows its last page if the page number is too high, because the list became shorter', () => {
    const { text, blocks } = listingMessage(addresses(0), { ...at, page: 7 })

    expect([text, blocks.length]).toEqual(['The account has no Elastic IPs.', 1])
    expect(listingMessage(addresses(12), { ...at, page: 7 }).text).toContain('(page 2 of 2)')
  })

  it('of several pages has buttons to the next and the previous page of the same list', () => {
    const pages = [0, 1, 2].map((page) => listingMessage(addresses(23), { ...at, page }))

    const rows = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `203.0.113.${from + index}`).join('\n')
    expect(pages.map(({ text }) => text)).toEqual([
      `*23 Elastic IPs* (page 1 of 3)\n${rows(1, 10)}`,
      `*23 Elastic IPs* (page 2 of 3)\n${rows(11, 20)}`,
      `*23 Elastic IPs* (page 3 of 3)\n${rows(21, 23)}`,
    ])
    expect(pages.map(pageButtonsOf)).toEqual([
      { [pageActionIds.next]: { version: 1, ...listed, page: 1 } },
      { [pageActionIds.previous]: { version: 1, ...listed, page: 0 }, [pageActionIds.next]: { version: 1, ...listed, page: 2 } },
      { [pageActionIds.previous]: { version: 1, ...listed, page: 1 } },
    ])
  })

  it('has fewer rows on a page if they are long, divides them in the same way for every page number, and cuts the longest', () => {
    const rows = [4_000, 4_000, 4_000, 100, 9_000, 100].map((length, index) => escapeMrkdwn(`${index}${'x'.repeat(length - 1)}`))
    const pages = [0, 1, 2, 3, 4].map((page) => listingMessage({ ...addresses(0), rows }, { ...at, page }))

    const shown = pages.map((page) => sectionsOf(page).slice(1).join('').replaceAll('x', ''))
    expect(shown).toEqual(['0', '1', '23', '4…', '5'])
    expect(pages.map(({ text }) => /page \d+ of \d+/.exec(text)?.[0])).toEqual([1, 2, 3, 4, 5].map((page) => `page ${page} of 5`))
  })

  it('begins every row exactly once, on pages of at most 10,000 characters', () => {
    const filler = fc.constantFrom('x', 'web-1 ', '&amp; ', '<@U0ADA00001> ', '\n', '🔑')
    const length = fc.oneof(fc.nat(40), fc.nat(600), fc.nat(12_000))
    const row = fc.tuple(filler, length).map(([unit, size]) => unit.repeat(Math.ceil(size / unit.length)))
    const frame = fc.record({ title: fc.nat(1_100), notes: fc.array(fc.nat(400), { maxLength: 5 }) })
    fc.assert(
      fc.property(fc.array(row, { maxLength: 40 }), frame, (fillers, { title, notes }) => {
        const rows = fillers.map((words, index) => ownWords(`[${index}] ${words}`))
        const words = (size: number) => ownWords('n'.repeat(size))
        const listing: Listing = { title: words(title), rows, empty: mrkdwn`None.`, notes: notes.map(words) }

        const shown: string[] = []
        for (let page = 0, pages = 1; page < pages; page += 1) {
          const message = listingMessage(listing, { ...at, page })
          pages = Number(/\(page \d+ of (\d+)\)/.exec(JSON.stringify(message.blocks[0]))?.[1] ?? 1)

          expect(charactersIn(message.blocks)).toBeLessThanOrEqual(10_000)
          expect(problemsWithBlocks(message.blocks)).toEqual([])
          expect(Object.values(pageButtonsOf(message)).map((turn) => turn.page)).toEqual(
            [page - 1, page + 1].filter((other) => other >= 0 && other < pages),
          )
          shown.push(...sectionsOf(message).slice(rows.length > 0 ? 1 : 0))
        }
        const begun = [...shown.join('').matchAll(/\[(\d+)\]/g)].map(([, index]) => Number(index))
        expect(begun).toEqual(rows.map((_, index) => index))
      }),
      { numRuns: 200 },
    )
  })
})
