import { describe, expect, test } from 'vitest'
import { ops, people, startWorld, untilCard, untilReport, untilShown } from './world.ts'

describe('the listings', () => {
  test('help, in four groups', async () => {
    const world = await startWorld()
    await world.ada.command('/infra', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /What you can do/)).text).toMatchInlineSnapshot(`
      "*What you can do*
      *Change*
      \`/infra ip move [&lt;elastic ip&gt; &lt;server&gt;]\` Move an Elastic IP to another server
      \`/infra evacuate [&lt;server&gt; [&lt;target&gt;]]\` Move all Elastic IPs of a server to another one
      \`/infra vm rename [&lt;vm&gt; &lt;new name&gt;]\` Rename a virtual machine
      *View*
      \`/infra ip list [word…]\` Elastic IPs with status, server, project and site
      \`/infra moves\` Moves in progress, and the latest that ended
      \`/infra servers [word…]\` Servers with status, site, project and their Elastic IPs
      \`/infra vms [word…]\` Virtual machines with status, site, project, plan and address
      \`/infra plans [word…]\` Virtual machine plans with size, stock and price
      \`/infra baselines [word…]\` Expected configuration of delivered servers
      \`/infra audit [word…]\` Each request with its requester, decision and outcome
      \`/infra doctor\` Check the setup: Slack, Redis, the account API, the workers
      *Keys*
      \`/infra keys [word…]\` API keys, those that need attention first
      \`/infra keys create [&lt;name&gt;]\` Request a new API key
      \`/infra keys rotate [&lt;key&gt;]\` Request a new token for an API key
      \`/infra keys revoke [&lt;key&gt;]\` Request to revoke an API key
      *You*
      \`/infra pending\` Requests that need approval, those you can approve first
      \`/infra whoami\` What you may request and approve here, and by which rule
      Changes need another person's approval, unless a rule says otherwise. To give a reason, end a change with \`because\` and the reason. Details and examples of a command: \`/infra help ip move\`"
    `)
  })

  test('help marks what the person may not request', async () => {
    const world = await startWorld({ env: { OPERATORS: people.chiara } })
    await world.ada.command('/infra help', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /What you can do/)).text).toMatch(/Not available to you here:_ `\/infra ip move`/)
    await world.ada.command('/infra ip move 203.0.113.10 web-2', { channel: ops })
    await untilShown(world.slack, people.ada, /You can't request this here/)
  })

  test('another command name in the manifest works, and answers quote it', async () => {
    const world = await startWorld()
    await world.ada.command('/cloud plan', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /isn't a command/)).text).toMatchInlineSnapshot(
      `"\`/cloud plan\` isn't a command. Did you mean \`/cloud plans\`? See \`/cloud help\`."`,
    )
  })

  test('Elastic IPs, filtered by words', async () => {
    const world = await startWorld()
    await world.ada.command('/infra ip list fra', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /Elastic IP/)).text).toMatchInlineSnapshot(`
      "*3 Elastic IPs matching \`fra\`*
      :large_green_circle: *\`203.0.113.40\`*  ·  on \`edge-fra-1\`  ·  active  ·  Storefront  ·  FRA
      :large_green_circle: *\`203.0.113.41\`*  ·  on \`edge-fra-2\`  ·  active  ·  Storefront  ·  FRA
      :large_green_circle: *\`2001:db8:40:1::\`*  ·  on \`web-fra-1\`  ·  active  ·  Storefront  ·  FRA"
    `)
  })

  test('plans, a page at a time, in place of the page that was clicked', async () => {
    const world = await startWorld()
    world.slack.setTables('refused')
    await world.ada.command('/infra plans', { channel: ops })
    const first = await untilShown(world.slack, people.ada, /plans.*page 1 of/)
    await world.ada.click(first, 'Next')
    const second = await untilShown(world.slack, people.ada, /plans.*page 2 of/)
    await world.ada.click(second, 'Previous')
    await untilShown(world.slack, people.ada, /plans.*page 1 of/)

    expect(world.slack.ephemerals(people.ada)).toHaveLength(1)
  })

  test('plans in stock in one place, in another currency', async () => {
    const world = await startWorld()
    await world.ada.command('/infra plans h100 EUR', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /plan/)).text).toMatch(/EUR \d+\.\d+\/h/)
  })

  test('servers with their Elastic IPs, and virtual machines', async () => {
    const world = await startWorld()
    await world.ada.command('/infra servers web-1 storefront', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /server/)).text).toMatchInlineSnapshot(`
      "*1 server matching \`web-1 storefront\`*
      *\`web-1\`*  ·  on  ·  ASH  ·  Storefront
      Elastic IPs: \`203.0.113.10\`
      own address \`198.51.100.21\`"
    `)
    await world.ada.command('/infra vms tyo', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /virtual machine/)).text).toMatchInlineSnapshot(`
      "*1 virtual machine matching \`tyo\`*
      *\`cache-tyo-1\`*  ·  Stopped  ·  TYO  ·  Storefront
      vm.medium  ·  \`192.0.2.114\`"
    `)
  })

  test('cities find servers and Elastic IPs, and a list that shows only the codes of sites names them', async () => {
    const world = await startWorld()
    for (const [command, found] of [
      ['servers dallas', /\b[1-9]\d* servers? matching `dallas`/],
      ['ip list dallas', /\b[1-9]\d* Elastic IPs? matching `dallas`/],
      ['vms narnia', /match `narnia`\. Use another word\. Sites in this list: ASH, /],
      ['plans narnia', /match `narnia`\. Use another word\. Sites in this list: ASH, DAL, FRA, SAO, TYO\./],
    ] as const) {
      await world.ada.command(`/infra ${command}`, { channel: ops })
      await untilShown(world.slack, people.ada, found)
    }
  })

  test('moves in flight, waiting and ended', async () => {
    const world = await startWorld({ account: { moveTakes: { min: 60_000, max: 60_000 } } })
    await world.ada.command('/infra moves', { channel: ops })
    await untilShown(world.slack, people.ada, /No moves/)
    const [done, flying, waiting] = [0, 1, 2].map((index) => world.accountApi.world.movable(index))
    if (!done || !flying || !waiting) throw new Error('the stand-in has too few')

    world.accountApi.world.nextMove({ takesMs: 100 })
    await world.ada.command(`/infra ip move ${done.elasticIp.id} ${done.target.id}`, { channel: ops })
    const first = await untilCard(world.slack, /needs approval from/)
    await world.ben.click(first, 'Approve')
    await untilReport(world.slack, first.ts, /Done/)
    await world.ada.command(`/infra ip move ${flying.elasticIp.id} ${flying.target.id}`, { channel: ops })
    await world.ben.click(await untilCard(world.slack, /needs approval from/), 'Approve')
    await untilCard(world.slack, /\*Moving\*/)
    await world.ada.command(`/infra ip move ${waiting.elasticIp.id} ${waiting.target.id}`, { channel: ops })
    await untilCard(world.slack, /needs approval from/)

    await world.ada.command('/infra moves', { channel: ops })
    const { text } = await untilShown(world.slack, people.ada, /1 in progress/)
    expect(text).toMatch(/1 in progress, 1 waiting for approval, 1 ended lately/)
    expect(text).toMatch(/moving {2}· {2}(\d+\ss|less than a second) so far/)
  })
})

describe('baselines', () => {
  test('are shown', async () => {
    const world = await startWorld()
    await world.ada.command('/infra baselines kafka', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /baseline/)).text).toMatch(/4 disks for storage, RAID 0, ext4 on `\/var\/lib\/kafka`/)
  })

  test.each([
    [403, { errors: [{ code: 'FEATURE_NOT_ENABLED', message: 'no' }] }],
    [404, undefined],
  ])('are explained to a team without the feature flag, with whom to ask (%i)', async (status, body) => {
    const world = await startWorld()
    world.accountApi.faults.add({ method: 'GET', path: /baselines/, kind: 'status', status, body })
    await world.ada.command('/infra baselines', { channel: ops })
    expect((await untilShown(world.slack, people.ada, /baselines_api/)).text).toMatch(/preview/)
  })

  test('are not explained by the feature flag if the key may not read them', async () => {
    const world = await startWorld()
    world.accountApi.faults.add({ method: 'GET', path: /baselines/, kind: 'status', status: 403 })
    await world.ada.command('/infra baselines', { channel: ops })
    const { text } = await untilShown(world.slack, people.ada, /403/)
    expect(text).toContain("Lockkeeper's API key isn't allowed to do this (403)")
    expect(text).not.toContain('baselines_api')
  })
})
