import { describe, expect, test } from 'vitest'
import { expectRefused, homeTeam, shareGuardedWorld, textsIn, unwelcome } from './gate.ts'
import { openRecords } from './records.ts'
import { ops, people, startWorld, untilCard, type World } from './world.ts'

describe('the gate', () => {
  const { current, acts } = shareGuardedWorld()

  test('refuses a guest, for every act', { timeout: 180_000 }, async () => {
    await expectRefused(current(), acts(), unwelcome[0])
  })

  test('covers everything that is registered', () => {
    const [bot] = current().bots
    const { clicks, submissions, shortcuts, options, ...others } = bot?.interactions ?? expect.fail('no bot')
    const names = acts().map(({ at }) => at)
    const times = (name: string) => names.filter((each) => each === name).length

    for (const id of Object.keys(clicks)) expect(times(`click ${id}`)).toBe(3)
    for (const id of Object.keys(shortcuts)) expect(times(`shortcut ${id}`)).toBe(2)
    for (const id of Object.keys(submissions)) expect(names).toContain(`submission ${id}`)
    for (const id of Object.keys(options)) expect(names).toContain(`options ${id}`)
    for (const { words } of bot?.commands ?? []) expect(names).toContain(`command ${words}`)
    expect(names).toContain('home')
    expect(Object.keys(others).toSorted()).toEqual(['bare', 'commands', 'home'])
  })
})

describe('a submitted form', () => {
  test('counts for the person who submits it, not for the one who opened it', async () => {
    const world: World = await startWorld()
    await world.ada.command('/infra ip move', { channel: ops })
    const view = await world.slack.until(() => world.ada.topView())
    const payload = { type: 'view_submission', user: { id: people.dov, team_id: homeTeam }, team: { id: homeTeam }, view: view.view }

    const { status, body } = await world.slack.sendRaw({ body: new URLSearchParams({ payload: JSON.stringify(payload) }).toString() })

    expect(status).toBe(200)
    expect(textsIn(body)).toContainEqual(expect.stringMatching(/^Guests can't use Lockkeeper/))
    expect(await openRecords(world).all()).toEqual([])
  })
})

describe('a form that is filled from a request', () => {
  test('is not shown before Slack has confirmed the person, and neither is anything about the request', async () => {
    const world = await startWorld()
    const { slack } = world
    const { elasticIp, target } = world.accountApi.world.movable()
    await world.ada.command(`/infra ip move ${elasticIp.address} ${target.hostname}`, { channel: ops })
    await world.ada.click(await untilCard(slack, /needs approval from/), 'Withdraw')
    const card = await untilCard(slack, /Withdrawn/)
    slack.faults.add({ method: 'users.info', kind: 'delay', delayMs: 1_500, when: ({ user }) => user === people.dov })

    await world.dov.click(card, 'Request again')
    await slack.until(() => JSON.stringify(slack.journal.map(({ args }) => args)).includes("Guests can't use Lockkeeper"))

    const shown = slack.journal.filter(({ method }) => method === 'views.open').flatMap(({ args }) => JSON.stringify(args.view))
    expect(shown.filter((view) => view.includes(elasticIp.address) || view.includes(target.hostname))).toEqual([])
  })
})
