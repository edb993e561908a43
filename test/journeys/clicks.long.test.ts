import { expect, test } from 'vitest'
import { type Request, requestStates } from '../../src/domain/request.ts'
import { type CardButton, cardButtons } from '../../src/messages/button-ids.ts'
import type { Message } from '../sandbox/slack/slack.ts'
import { bring, outsiders, type QuietWorld, type Row, refused, rows, startQuietWorld, type Walker, walkers } from './clicks.ts'
import { observeHandlers } from './handlers.ts'
import { buttonNames, cardOf } from './records.ts'
import { splitSubject, wordsIn } from './subject.ts'
import { ops, people } from './world.ts'

const forgotten = 'forgotten'

/** The states in which somebody presses the buttons. */
function rowsFor(walker: Walker): [name: string, row: Row | undefined][] {
  const all: [string, Row | undefined][] = [...Object.entries(rows), [forgotten, undefined]]
  return outsiders.includes(walker) ? all.slice(0, 1) : all
}

/** Presses a button and waits for everything that follows: messages, forms and the new state of the request. */
async function press(
  world: QuietWorld,
  handled: ReturnType<typeof observeHandlers>['handled'],
  userId: string,
  card: Message,
  name: CardButton,
  request?: Request,
) {
  const { slack, records } = world
  const hands = slack.as(userId)
  // On a busy machine the interim message of a slow bot comes first. The answer follows.
  const answers = () => slack.ephemerals(userId).filter(({ text }) => !text.startsWith('Slower than usual'))
  const isAnswered = () => answers().length > 0 || hands.openViews().some(({ title }) => title === refused)

  const { outcome, payload } = await hands.click(card, cardButtons[name])
  expect(outcome).toBe('acknowledged')
  const became = outsiders.some((walker) => walkers[walker] === userId) ? 'refused' : await handled(String(payload.trigger_id))
  if (became === 'refused') await slack.until(isAnswered, { what: `an answer to ${userId}, who pressed ${name}`, timeoutMs: 20_000 })

  const split = answers().map(({ text }) => splitSubject(text))
  const words = split.map((one) => one.words)
  const unnamed = split.filter(({ about }) => about === undefined || !request?.id.startsWith(about)).map((one) => one.words)
  // Remove what was read, so that a message that comes late or twice shows up at the next press.
  for (const { channel, ts } of slack.ephemerals(userId)) slack.removeMessage(channel, ts)
  for (const view of hands.openViews()) {
    words.push(view.title === refused ? wordsIn(view.view) : `opens *${view.title}*`)
    await hands.close(view)
  }
  const now = request && (await records.find(request.id))
  const hasChanged = now !== undefined && now.revision !== request?.revision
  return { words, unnamed, effect: hasChanged ? effectOf(now) : undefined }
}

interface Cell {
  row: string
  walker: Walker
  button: CardButton
  words: string[]
  /** The answers as messages that don't begin with what the request is, and a link to it. */
  unnamed: string[]
  effect: string | undefined
}

test('every button is answered once, for every member and every state of the request, and for outsiders', async () => {
  const world = await startQuietWorld()
  const { observe, handled } = observeHandlers()
  for (const bot of world.bots) observe(bot)
  const cells: Cell[] = []

  async function walk(walker: Walker) {
    for (const [row, how] of rowsFor(walker)) {
      let request = how && (await bring(world, how, walker))
      for (const button of buttonNames) {
        const card = request ? cardOf(request) : cardOf(unknown(await world.records.post(ops, [])))
        const { words, unnamed, effect } = await press(world, handled, walkers[walker], card, button, request)
        cells.push({ row, walker, button, words, unnamed, effect })
        if (how && effect) request = await bring(world, how, walker)
        if (how && effect) world.slack.removeMessage(ops, card.ts)
      }
    }
  }
  await Promise.all((Object.keys(walkers) as Walker[]).map(walk))

  expect(new Set(Object.values(rows).map(({ state }) => state))).toEqual(new Set(requestStates))
  const pressed = (Object.keys(walkers) as Walker[]).flatMap(rowsFor).length
  expect(cells).toHaveLength(pressed * buttonNames.length)
  expect(cells.filter(({ words, effect }) => words.length !== 1 && !(words.length === 0 && effect))).toEqual([])
  expect(Object.values(walkers).flatMap((userId) => world.slack.ephemerals(userId))).toEqual([])
  await expect(sheetOf(cells)).toMatchFileSnapshot('clicks.answers.md')
  expect([...new Set(cells.flatMap(({ unnamed }) => unnamed.map(withoutDetails).map(withoutCount)))].toSorted()).toMatchInlineSnapshot(`
    [
      "*Your new API key ci-deploy* is in this message, only visible to you. Shown once: save it now.",
      "Guests can't use Lockkeeper. Ask a full member.",
      "People from other workspaces can't use Lockkeeper. Ask a full member.",
      "This request is older than 30 days, or Redis lost it, so nothing was done. Run the command again, or see \`/infra audit\`.",
      "shows the details of the request",
    ]
  `)
}, 180_000)

function effectOf(request: Request): string {
  return request.state === 'waiting' ? `${request.approvals.length} of 2 approvals` : `becomes ${request.state}`
}

/** A card whose request is no longer stored. */
function unknown(cardTs: string): Request {
  return { id: '0'.repeat(32), hash: '0'.repeat(64), cardTs } as Request
}

const names: Record<string, string> = { [people.ada]: '@ada', [people.chiara]: '@chiara', S0ONCALL01: '@oncall', [ops]: '#ops' }

function answerOf({ words, effect }: Cell): string {
  const [said = ''] = words
    .map(withoutDetails)
    .map((text) => text.replaceAll(/<[@!#](?:subteam\^)?(\w+)>/g, (_, id) => names[id] ?? id))
    .map(withoutCount)
  return [said, effect && `*${effect}*`].filter(Boolean).join(' ')
}

/** Renders the answer sheet: for each state, who presses what, and the result. People and buttons with one answer share a line. */
function sheetOf(cells: Cell[]): string {
  const everywhere = outsiders.map((walker) => {
    const answers = new Set(cells.filter((cell) => cell.walker === walker).map(answerOf))
    return `- A ${walker}, for every button: ${[...answers].join(' / ')}`
  })
  const states = [...new Set(cells.map(({ row }) => row))].map((row) => {
    const here = cells.filter((cell) => cell.row === row && !outsiders.includes(cell.walker))
    return { row, lines: linesOf(here) }
  })
  const usual = usualLines(states.map(({ lines }) => lines))
  const tableOf = (lines: string[]) => `| who | presses | answer |\n|---|---|---|\n${lines.join('\n')}\n`
  const sections = states.map(({ row, lines }) => `## ${row}\n\n${tableOf(lines.filter((line) => !usual.includes(line)))}`)
  const intro =
    'The answer to a click, generated by `clicks.long.test.ts`. The new state of the request is in italics. Each answer in a message begins with the request: *Move `203.0.113.10`: web-1 → web-2*  ·  request 80fbcd61.'
  const first = `## what is not listed under a state\n\n${tableOf(usual)}`
  return `# The answer to every click\n\n${intro}\n\n${everywhere.join('\n')}\n\n${first}\n${sections.join('\n')}`
}

/** Returns the lines of most states, of which each person and button has one. */
function usualLines(states: string[][]): string[] {
  const counts = Map.groupBy(states.flat(), (line) => line)
  const often = [...counts].filter(([, same]) => same.length > states.length / 3).toSorted(([, a], [, b]) => b.length - a.length)
  const pairsOf = (line: string) => {
    const [, who = '', buttons = ''] = line.split('|')
    return who.split(',').flatMap((each) => buttons.split(',').map((button) => `${each.trim()} ${button.trim()}`))
  }
  const taken = new Set<string>()
  const usual = often.flatMap(([line]) => {
    const pairs = pairsOf(line)
    if (pairs.some((pair) => taken.has(pair))) return []
    for (const pair of pairs) taken.add(pair)
    return [line]
  })
  return usual.toSorted()
}

function linesOf(cells: Cell[]): string[] {
  const byAnswer = Map.groupBy(cells, answerOf)
  return [...byAnswer]
    .flatMap(([answer, same]) => {
      const buttonsOf = (walker: Walker) =>
        buttonNames.filter((name) => same.some((cell) => cell.walker === walker && cell.button === name)).join(', ')
      const byButtons = Map.groupBy(new Set(same.map(({ walker }) => walker)), buttonsOf)
      return [...byButtons].map(([buttons, who]) => `| ${inOrder(who).join(', ')} | ${buttons} | ${answer} |`)
    })
    .toSorted()
}

function inOrder(who: Walker[]): Walker[] {
  return (Object.keys(walkers) as Walker[]).filter((walker) => who.includes(walker))
}

/** The details of a request have its id and its times. */
function withoutCount(text: string): string {
  return text.replaceAll(/ci-deploy-\d+/g, 'ci-deploy')
}

function withoutDetails(text: string): string {
  return /(rule|setting) .+`\w{32}`$/s.test(text) ? 'shows the details of the request' : text
}
