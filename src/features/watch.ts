import { randomUUID } from 'node:crypto'
import type { Plan } from '../account/objects.ts'
import type { App } from '../app.ts'
import type { Origin } from '../domain/approval.ts'
import { formatDuration } from '../domain/text.ts'
import type { Watch, WatchedList } from '../domain/watch.ts'
import type { Feature, Setup } from '../kit/change-feature.ts'
import { type AnyThing, findTyped, suggesting } from '../kit/thing.ts'
import { elasticIps, plans, servers } from '../kit/things.ts'
import { endWatchButton, watchBlocks, watchedWords } from '../messages/watches.ts'
import { notInChannel } from '../messages/words.ts'
import { intervalMsOf, mostWatches, toRow, turnMsOf, watchAccount, watchedMs } from '../requests/watching.ts'
import { context, message, wholeSection } from '../slack/blocks.ts'
import type { Command, CommandCall } from '../slack/commands.ts'
import { Refusal } from '../slack/errors.ts'
import type { Click } from '../slack/interactions.ts'
import { code, joinMrkdwn, mrkdwn, nameWords } from '../slack/text.ts'
import type { Message } from '../slack/web-api.ts'

export const watchThings = { create }

interface Watched extends Pick<Command, 'usage' | 'summary' | 'details' | 'examples'> {
  words: string
  list: WatchedList
  thing: AnyThing
}

const watched: Watched[] = [
  {
    words: 'watch plan',
    list: 'plans',
    thing: plans,
    usage: '<plan> [in <site>]',
    summary: 'Get one message here when a plan is in stock',
    examples: ['gpu.h100.4', 'gpu.h100.4 in DAL'],
  },
  {
    words: 'watch ip',
    list: 'elasticIps',
    thing: elasticIps,
    usage: '<elastic ip>',
    summary: 'Tell this channel when an Elastic IP changes outside Lockkeeper',
    details: mrkdwn`Its server or its status. A watch ends after 30 days.`,
    examples: ['203.0.113.10'],
  },
  {
    words: 'watch server',
    list: 'servers',
    thing: servers,
    usage: '<server>',
    summary: 'Tell this channel when a server changes outside Lockkeeper',
    details: mrkdwn`Its hostname, status, lock or planned deletion. A watch ends after 30 days.`,
    examples: ['web-1'],
  },
]

function create(app: App, setup: Setup): Feature {
  return {
    commands: [
      ...watched.map(
        (each): Command => ({ details: undefined, ...each, group: 'You', need: 'read', run: (call) => watch(app, each, call) }),
      ),
      {
        words: 'watches',
        group: 'You',
        usage: '',
        summary: 'What you watch, and how often it is checked',
        examples: [],
        need: 'read',
        run: async ({ slashCommand: { origin, answer } }) => answer.ephemeral(await listed(app, origin)),
      },
    ],
    clicks: { [endWatchButton]: (click) => end(app, setup, click) },
    repeated: [{ name: 'watches', everyMs: Math.floor(turnMsOf(app) * 0.9), run: watchAccount }],
  }
}

async function watch(
  app: App,
  { list, thing, words, usage }: Watched,
  { slashCommand: { origin }, args, say }: CommandCall,
): Promise<void> {
  const site = list === 'plans' && args.length > 2 && args.at(-2)?.toLowerCase() === 'in' ? args.at(-1)?.toUpperCase() : undefined
  const typed = (site === undefined ? args : args.slice(0, -2)).join(' ')
  const { command, userId, channelId } = origin
  if (typed === '') throw new Refusal(mrkdwn`Usage: ${code(`${command} ${words} ${usage}`)}`)
  if ((await app.directory.hasBot(channelId)) === false) throw new Refusal(notInChannel)
  const [item, ...others] = await suggesting(app, [thing], command, findTyped(app, thing, typed))
  if (others.length > 0) {
    const ids = [item, ...others].slice(0, 10).map(({ id }) => code(`${command} ${words} ${id}`))
    throw new Refusal(
      mrkdwn`${others.length + 1} ${thing.many} are called ${nameWords(typed)}. Name one by its id: ${joinMrkdwn(ids, ', ')}`,
    )
  }
  // Only its id is known.
  if (Object.keys(item).length < 2) throw new Refusal(mrkdwn`The account API didn't answer, so nothing is watched. Try again in a minute.`)
  const { id, name, facts, inStock = [] } = toRow(list, item)
  if (site !== undefined) requireSite(item as unknown as Plan, site)
  const what = watchedWords({ list, name, site })
  const sites = inStock.filter((each) => site === undefined || each === site)
  if (sites.length > 0)
    return say(mrkdwn`${watchedWords({ list, name })} is in stock in ${sites.join(', ')} now, so there is nothing to wait for.`)

  let found: 'too-many' | 'again' | undefined
  const written = await app.watching.change((before, now) => {
    const mine = before.watches.filter((each) => each.origin.userId === userId)
    const isSame = (each: Watch) => each.list === list && each.id === id && each.site === site && each.origin.channelId === channelId
    found = mine.some(isSame) ? 'again' : mine.length >= mostWatches ? 'too-many' : undefined
    if (found) return undefined
    const added: Watch = { key: randomUUID(), list, id, name, facts, site, origin, at: now, until: now + watchedMs }
    return { next: { ...before, watches: [...before.watches, added] }, messages: [] }
  })
  if (found === 'again') return say(mrkdwn`You watch ${what} here already. ${code(`${command} watches`)} shows it.`)
  if (found) throw new Refusal(mrkdwn`You have ${mostWatches} watches, the maximum. End one: ${code(`${command} watches`)}`)
  if (!written) throw new Refusal(mrkdwn`Lockkeeper can't read the list of watches, so nothing was changed. Tell Lockkeeper's operators.`)
  const how =
    list === 'plans' ? 'You get one message here when it is in stock' : 'This channel gets a message when it changes outside Lockkeeper'
  await say(mrkdwn`:eyes: Watching ${what} for 30 days. ${how}. ${code(`${command} watches`)} shows and ends it.`)
}

/** A site that does not offer the plan would never have it in stock. A plan of which no site is known may get one. */
function requireSite({ regions }: Plan, site: string): void {
  const offered = [...new Set(regions.flatMap(({ availableSites, inStockSites }) => [...availableSites, ...inStockSites]))]
  if (offered.length === 0 || offered.includes(site)) return
  throw new Refusal(mrkdwn`Site ${nameWords(site)} doesn't offer this plan, so nothing is watched. Sites that do: ${offered.join(', ')}.`)
}

async function listed(app: App, { userId, command }: Origin): Promise<Message> {
  const { watching, problem } = await app.watching.read()
  const mine = watching.watches.filter((each) => each.origin.userId === userId)
  if (problem === 'unreadable') throw new Refusal(mrkdwn`Lockkeeper can't read the list of watches. Tell Lockkeeper's operators.`)
  if (mine.length === 0) return message(wholeSection(mrkdwn`You watch nothing. To begin: ${code(`${command} help watch`)}`))
  const title = mrkdwn`*You watch ${mine.length} of at most ${mostWatches}*`
  const interval = mrkdwn`Each list is read about every ${formatDuration(intervalMsOf(app, watching))}. A watch ends after 30 days.`
  return message([...wholeSection(title), ...watchBlocks(mine), ...context([interval])])
}

async function end(app: App, setup: Setup, { value, origin, answer, onHome }: Click): Promise<void> {
  const isIt = ({ key, origin: { userId } }: Watch) => key === value && userId === origin.userId
  await app.watching.change((before) =>
    before.watches.some(isIt) ? { next: { ...before, watches: before.watches.filter((each) => !isIt(each)) }, messages: [] } : undefined,
  )
  if (onHome) await setup.showHome(origin)
  else await answer.replace(await listed(app, origin))
}
