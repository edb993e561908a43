import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ops, people } from '../journeys/world.ts'
import { documentedLimits } from '../sandbox/account-api/rate-limiter.ts'
import type { Hands } from '../sandbox/slack/slack.ts'
import { nodeDown, startAlertScene } from './alert-scene.ts'
import { untilEvacuation } from './evacuations.ts'
import { brokenPromises } from './invariants.ts'

type Busy = Awaited<ReturnType<typeof startBusyScene>>

/** A minute of the account API takes this long here. Moves, polls and people are faster by the same factor. */
const windowMs = 6_000

const shippedLimits = {
  INFRA_READS_PER_MINUTE: '60',
  INFRA_WRITES_PER_MINUTE: '20',
  MOVE_POLL_BUDGET: '20',
  ACCOUNT_WINDOW_MS: String(windowMs),
}

interface Setting {
  web: number
  worker: number
  window: 'fixed' | 'sliding'
}

async function startBusyScene({ web, worker, window }: Setting) {
  const role = (index: number) => (worker === 0 ? 'all' : index < web ? 'web' : 'worker')
  const scene = await startAlertScene({
    bots: web + worker,
    own: (index) => ({ ROLE: role(index), ...shippedLimits }),
    elasticIps: 5,
    onRacks: [14],
    moveTakesMs: 3_000,
    accountLimits: { ...documentedLimits, window, windowMs },
  })
  let turn = 0

  /** What a person does goes to each web process in turn. */
  function as(name: keyof typeof people): Hands {
    scene.slack.connectBot(scene.bots.url(turn++ % web))
    return scene.slack.as(people[name])
  }

  async function ask(name: keyof typeof people, words: string, fits: RegExp): Promise<string> {
    const answers = () => scene.slack.ephemerals(people[name]).filter(({ text }) => fits.test(text))
    const before = answers().length
    await as(name).command(`/infra ${words}`, { channel: ops })
    return (await scene.slack.until(() => answers()[before], { what: `an answer to ${words}`, timeoutMs: 20_000 })).text
  }

  return { ...scene, as, ask }
}

/** Lists and searches until everything else is done, with pauses as people make them. */
async function lookAround({ as, ask, slack }: Busy, name: keyof typeof people, isOver: () => boolean): Promise<void> {
  while (!isOver()) {
    await ask(name, 'ip list', /^\*\d+ Elastic IPs/)
    await delay(500)
    await ask(name, 'servers', /^\*\d+ servers/)
    await delay(500)
    await as(name).command('/infra ip move', { channel: ops })
    await slack.until(() => slack.as(people[name]).topView(), { what: 'a form' })
    const { options } = await as(name).search(undefined, 'Server', 'web-2')
    expect(options.map(({ text }) => text.text)).toContain('web-2 (Storefront, ASH)')
    await slack.as(people[name]).close()
    await delay(500)
  }
}

async function move({ as, slack, elasticIp, untilCard }: Busy, index: number, by: keyof typeof people, approver: keyof typeof people) {
  await as(by).command(`/infra ip move ${elasticIp(index).address} web-2`, { channel: ops })
  const card = await untilCard(index, /needs approval from/)
  await delay(300)
  await as(approver).click(card, 'Approve')
  return slack.until(() => slack.thread(ops, card.ts).find(({ text }) => /\*Done\.\*/.test(text)), { what: 'the end' })
}

async function evacuate(busy: Busy) {
  const alertmanager = await busy.alertmanagerFor()
  await alertmanager.send(nodeDown('rack-0'))
  const card = await untilEvacuation(busy, 0, /needs approval from/)
  await busy.as('ben').click(card, 'Approve')
  await untilEvacuation(busy, 0, /\*Done\*/)
}

test.each<Setting>([
  { web: 1, worker: 0, window: 'sliding' },
  { web: 2, worker: 2, window: 'sliding' },
  { web: 2, worker: 2, window: 'fixed' },
])(
  'a busy hour: three people list, search and request, and a server is evacuated ($web web and $worker worker processes, $window windows)',
  async (setting) => {
    const busy = await startBusyScene(setting)
    const { accountApi, slack } = busy
    let isOver = false
    const everybody = (['ada', 'ben', 'chiara'] as const).map((name) => lookAround(busy, name, () => isOver))

    const work = Promise.all([
      move(busy, 0, 'ada', 'ben'),
      move(busy, 1, 'ben', 'chiara'),
      evacuate(busy),
      delay(windowMs).then(() =>
        Promise.all([move(busy, 2, 'ada', 'chiara'), move(busy, 3, 'chiara', 'ben'), move(busy, 4, 'ada', 'ben')]),
      ),
      busy.ask('ben', 'doctor', /checks? (passed|failed)|No check failed/i),
    ]).finally(() => {
      isOver = true
    })
    const [, , , , doctor] = await Promise.race([work, Promise.all(everybody).then(() => work)])
    await Promise.all(everybody)

    const { limiter } = accountApi
    console.log(JSON.stringify({ reads: limiter.most('read'), writes: limiter.most('write') }))
    const answers = Object.values(people).flatMap((person) => slack.ephemerals(person).map(({ text }) => text))
    expect(answers.filter((text) => /couldn't|isn't responding|\b429\b|not started/i.test(text))).toEqual([])
    expect(doctor).not.toContain(':x:')
    expect([limiter.refused('read'), limiter.refused('write')]).toEqual([0, 0])
    expect(accountApi.world.elasticIps().map(({ status, serverId }) => `${status} on ${serverId}`)).toEqual(
      Array(19).fill(`active on ${busy.to}`),
    )
    expect(brokenPromises(await busy.gather(6))).toEqual([])
  },
)
