import { describe, expect, test } from 'vitest'
import type { Server } from '../../src/account/objects.ts'
import { approvalCard } from '../../src/messages/request-message.ts'
import { checkMove, moveWords, namesakeWarnings } from '../../src/moves/move.ts'
import { moveChange } from '../../src/moves/move-change.ts'
import { cleanText, code, mrkdwn, plain } from '../../src/slack/text.ts'
import { ops, startWorld, untilCard, type World } from '../journeys/world.ts'
import { cardViewFor } from '../messages/card-view-for-test.ts'
import { requestFor } from '../requests/request-for-test.ts'

const project = { id: 'proj_1', name: 'Storefront', slug: 'storefront' }
const site = { id: 'loc_1', name: 'Ashburn', slug: 'ASH' }

function server(id: string, hostname: string | undefined, more: Partial<Server> = {}): Server {
  return { id, hostname, label: undefined, primaryIpv4: undefined, status: 'on', locked: false, project, site, ...more }
}

const elasticIp = { id: 'eip_1', address: '203.0.113.10', status: 'active', server: { id: 'sv_1', hostname: 'web-1' }, project, site }

function changeServer(world: World, id: string, change: Partial<World['accountApi']['world']['data']['servers'][number]>): void {
  const found = world.accountApi.world.data.servers.find((one) => one.id === id)
  if (!found) throw new Error(`the stand-in has no server ${id}`)
  Object.assign(found, change)
}

/** The preflight check of a move to `target`, where the account has these servers. */
function _preflightOf(target: Server, listed: Server[] | Error) {
  const lists: unknown[] = []
  const accountApi = {
    elasticIps: { get: async () => elasticIp },
    servers: {
      get: async () => target,
      list: async (filter: unknown) => {
        lists.push(filter)
        if (listed instanceof Error) throw listed
        return listed
      },
    },
  }
  const change = moveChange({ account: accountApi as never })
  const check = (forRequest: boolean) => change.preflight({ elasticIpId: 'eip_1', serverId: target.id }, { forRequest })
  return { check, lists, words: (findings: unknown[] = []) => findings.map((finding) => moveWords(finding as never).why) }
}

describe('a server that is called like another one', () => {
  test('is shown on the request message, and in its notification', async () => {
    const world = await startWorld()
    const { elasticIp: moved, target } = world.accountApi.world.movable()
    const twin = world.accountApi.world.third(moved.id)
    changeServer(world, twin.id, { hostname: target.hostname })

    await world.ada.command(`/infra ip move ${moved.address} ${target.id}`, { channel: ops })
    const card = await untilCard(world.slack, /needs approval from/)

    const line = JSON.stringify(card.blocks).match(/:warning: \*Check first\*[^"]*/)?.[0]
    expect(line).toContain(`Another server (\`${twin.id}\`) is also called \`${target.hostname}\`. This move goes to \`${target.id}\`.`)
    expect(card.text).toContain(`Another server (\`${twin.id}\`) is also called \`${target.hostname}\`.`)
  })

  test('is found by the name that people see, and listed up to three times', () => {
    const target = server('sv_2', 'web-2')
    const others = ['web-2', 'WEB-2', 'web\u200b-2', 'web-2\u3164', 'web-20'].map((name, index) => server(`sv_9${index}`, name))

    const found = namesakeWarnings(target, [target, ...others])

    const words = '4 other servers (sv_90, sv_91, sv_92 …) are also called web-2. This move goes to sv_2.'
    expect(found.map((finding) => moveWords(finding).why)).toEqual([words])
    expect(namesakeWarnings(target, [target, server('sv_3', 'web-3')])).toEqual([])
  })

  test('by characters that cannot be seen leads to a warning about them', () => {
    const { warnings = [] } = checkMove(
      { elasticIpId: 'eip_1', serverId: 'sv_2' },
      { elasticIp, target: server('sv_2', 'web\u2060-2'), assigned: undefined },
    )

    const words = 'The name of server sv_2 contains characters that cannot be seen. Compare its id.'
    expect(warnings.map((finding) => moveWords(finding as never).why)).toEqual([words])
  })
})

describe('a target that would not answer', () => {
  const off = '`only-one` has status `off`. Addresses on it answer only once it is on.'
  const locked = '`only-one` is locked on the account.'

  test('that is off and locked leads to warnings and is not refused', async () => {
    const world = await startWorld()
    const { elasticIp: moved, target } = world.accountApi.world.movable()
    changeServer(world, target.id, { hostname: 'only-one', status: 'off', locked: true })

    await world.ada.command(`/infra ip move ${moved.address} ${target.id}`, { channel: ops })

    const card = await untilCard(world.slack, /needs approval from/)
    expect(card.text).toContain(`\n:warning: *Check first*\n•  ${off}\n•  ${locked}\n`)
  })
})

const invisible = [
  ['a zero-width space', '\u200b'],
  ['a zero-width joiner', '\u200d'],
  ['a zero-width non-joiner', '\u200c'],
  ['a word joiner', '\u2060'],
  ['a Hangul filler', '\u3164'],
  ['a half-width Hangul filler', '\uffa0'],
  ['a Hangul initial filler', '\u115f'],
  ['a variation selector', '\ufe0f'],
  ['a supplementary variation selector', '\u{e0100}'],
  ['a tag', '\u{e0061}'],
  ['a combining grapheme joiner', '\u034f'],
  ['a soft hyphen', '\u00ad'],
  ['a Mongolian vowel separator', '\u180e'],
  ['a Khmer inherent vowel', '\u17b4'],
  ['an empty Braille pattern', '\u2800'],
  ['a mark that reverses text', '\u202e'],
] as const

describe('a name that differs from another one only by what nobody sees', () => {
  test.each(invisible)('by %s is shown without it everywhere', (_, character) => {
    const name = `web${character}-1`

    expect(cleanText(name)).toBe('web-1')
    expect(code(name).text).toBe('`web-1`')
    expect(mrkdwn`${name}`.text).toBe('web-1')
    expect(plain(name).text).toBe('web-1')
  })
})

describe('a reason that looks like a status', () => {
  const reason = '*Approved* by <@U0BEN00001> :white_check_mark:\n:large_green_circle: *Done.* `x` _really_'

  test('is plain text on the request message', () => {
    const { blocks, text } = approvalCard(cardViewFor({ request: requestFor({ reason }) }))

    const plainText = { type: 'text', text: reason.replace('\n', ' ') }
    const found = blocks.filter((block) => JSON.stringify(block).includes('Approved'))
    expect(found).toMatchObject([
      { type: 'rich_text', elements: [{ type: 'rich_text_section', elements: [{ text: 'Reason: ' }, plainText] }] },
    ])
    expect(text).toContain('Reason: `*Approved* by &lt;@U0BEN00001&gt; :white_check_mark: :large_green_circle: *Done.* ’x’ _really_`')
  })
})
