import type { FaultOrder } from '../sandbox/account-api/faults.ts'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'
import { withoutLimits } from '../sandbox/bot-process.ts'
import type { FaultPlan, Message } from '../sandbox/slack/slack.ts'
import { startSlack } from '../sandbox/slack/start-slack.ts'
import { collectEarlyReports, manyElasticIps, places, racks } from './many-elastic-ips.ts'
import { createRandom } from './random.ts'

/** Runs the stand-in Slack and the stand-in account API in a separate process, which goes on whatever happens to the bots. */
const {
  elasticIps,
  onRacks = [],
  moveTakes,
  seed,
} = JSON.parse(process.argv[2] ?? '{}') as {
  elasticIps: number
  onRacks?: number[]
  moveTakes: { min: number; max: number }
  seed: number
}

const slack = await startSlack({ keepAnswers: false })
const { servers, elasticIps: onThem } = racks(onRacks)
const single = manyElasticIps(elasticIps)
const account = await startAccountApi({ moveTakes, data: { servers, elasticIps: [...single, ...onThem] } })
const random = createRandom(seed)

/** Random faults with their probabilities. They are counted, because a fault that never happened proves nothing. */
const chances = { slack: [] as { plan: FaultPlan; chance: number }[], account: [] as { order: FaultOrder; chance: number }[] }
const planned: { fired(): number; name: string }[] = []
const timer = setInterval(plan, 20)

function plan(): void {
  for (const { plan: next, chance } of chances.slack) {
    if (random() < chance) {
      const fault = slack.faults.add(next)
      planned.push({ name: `slack ${next.method} ${next.kind}`, fired: () => fault.fired })
    }
  }
  for (const { order, chance } of chances.account) {
    if (random() < chance) planOnAccount(order)
  }
}

function planOnAccount(order: (typeof chances)['account'][number]['order']): void {
  const fault = account.faults.add(order)
  planned.push({ name: `account ${order.method ?? '*'} ${order.kind}`, fired: () => fault.fired })
}

const reportedTooEarly = collectEarlyReports(slack, account)

const brief = ({ ts, text, threadTs, metadata }: Message) => ({ ts, text, threadTs, metadata })

const calls = {
  addresses: () => ({
    env: {
      SLACK_BOT_TOKEN: slack.botToken,
      SLACK_SIGNING_SECRET: slack.signingSecret,
      SLACK_API_URL: slack.apiUrl,
      INFRA_API_URL: account.url,
      ...withoutLimits,
      INFRA_API_KEY: account.key,
    },
    ...places,
  }),
  command: async (url: string, as: string, text: string, channel: string) => {
    slack.connectBot(url)
    return (await slack.as(as).command(text, { channel })).outcome
  },
  click: async (url: string, as: string, channel: string, ts: string, button: string) => {
    slack.connectBot(url)
    return (await slack.as(as).click(ts, button, { channel })).outcome
  },
  /** Returns the bot's cards whose text matches a regular expression. */
  cardsThatSay: (channel: string, pattern: string) => {
    const saysIt = new RegExp(pattern)
    return slack.texts(channel).flatMap(({ isBot, text, ts }) => (isBot && saysIt.test(text) ? [ts] : []))
  },
  /** Returns the Elastic IPs, the keys and the racks of the chaos that are on cards. */
  named: (channel: string) => [
    ...new Set(slack.texts(channel).flatMap(({ isBot, text }) => (isBot ? (text.match(/\beip_\w+|\b(?:chaos|rack)-\d+/g) ?? []) : []))),
  ],
  threads: (channel: string) =>
    slack
      .messages(channel)
      .filter(({ isBot }) => isBot)
      .map((card) => ({ card: brief(card), replies: slack.thread(channel, card.ts).slice(1).map(brief) })),
  ephemerals: (userId: string) => slack.ephemerals(userId).map(({ text }) => text),
  elasticIps: () => account.world.elasticIps().map(({ id, address, status, serverId: on }) => ({ id, address, status, on })),
  /** The ids of the Elastic IPs that are on no rack. */
  singles: () => single.map(({ id }) => id),
  writes: () =>
    account.journal
      .writes()
      .filter(({ refused }) => !refused)
      .map(({ method, path }) => ({ method, path })),
  requests: () => account.journal.length,
  /** Plans each fault of the account API once, because chance alone can miss a rare write. */
  setChances: (next: typeof chances) => {
    Object.assign(chances, next)
    for (const { order } of next.account) planOnAccount(order)
  },
  calm: () => {
    Object.assign(chances, { slack: [], account: [] })
    slack.faults.clear()
    account.faults.clear()
    return fired()
  },
  fired,
  reportedTooEarly,
  /** Returns the keys created here: those that live, all tokens, and what one person alone was shown. */
  keys: (prefix: string, userId: string) => ({
    live: account.world.data.apiKeys.filter(({ name }) => name.startsWith(prefix)).map(({ name, token }) => ({ name, token })),
    issued: account.world.issuedTokens,
    shown: JSON.stringify(slack.ephemerals(userId).map(({ blocks }) => blocks)),
    made: account.journal.writes().flatMap(({ method, body }) => (method === 'POST' ? [nameIn(body)] : [])),
    saidOpenly: saidWith(account.world.issuedTokens, (method) => !['chat.postEphemeral', 'response_url'].includes(method)),
  }),
  saidWith: (words: string[]) => saidWith(words),
}

/**
 * Returns what the bot sent to Slack and that contains one of these words. After a long run, all of it would exceed the size of a string.
 */
function saidWith(words: string[], fits = (_method: string) => true): string {
  return slack.journal
    .filter(({ method }) => fits(method))
    .flatMap(({ method, args }) => {
      const said = JSON.stringify({ method, args })
      return words.some((word) => said.includes(word)) ? [said] : []
    })
    .join('\n')
}

function nameIn(body: unknown): string {
  return (body as { data: { attributes: { name: string } } }).data.attributes.name
}

export type StandInCalls = typeof calls

function fired(): Record<string, number> {
  const counts: Record<string, number> = {}
  for (const fault of planned) counts[fault.name] = (counts[fault.name] ?? 0) + fault.fired()
  return counts
}

/** The parent may have ended. */
function reply(message: object): void {
  if (process.connected) process.send?.(message)
}

process.on('message', (message: { id: number; name: keyof StandInCalls; args: unknown[] }) => {
  const call = calls[message.name] as (...args: unknown[]) => unknown
  Promise.resolve()
    .then(() => call(...message.args))
    .then(
      (value) => reply({ id: message.id, value }),
      (error: unknown) => reply({ id: message.id, error: error instanceof Error ? error.message : String(error) }),
    )
})
process.on('disconnect', () => {
  clearInterval(timer)
  process.exit(0)
})
process.send?.({ ready: true })
