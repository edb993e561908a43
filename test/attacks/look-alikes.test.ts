import { describe, expect, test } from 'vitest'
import type { Server } from '../../src/account/objects.ts'
import { checkMove, moveWords, namesakeWarnings } from '../../src/features/moves/move-checks.ts'

const project = { id: 'proj_1', name: 'Storefront', slug: 'storefront' }
const site = { id: 'loc_1', name: 'Ashburn', slug: 'ASH' }

function server(id: string, hostname: string | undefined, more: Partial<Server> = {}): Server {
  return { id, hostname, label: undefined, primaryIpv4: undefined, status: 'on', locked: false, project, site, ...more }
}

const elasticIp = { id: 'eip_1', address: '203.0.113.10', status: 'active', server: { id: 'sv_1', hostname: 'web-1' }, project, site }

describe('a server that is called like another one', () => {
  test('is found by the name that people see, and listed up to three times', () => {
    const target = server('sv_2', 'web-2')
    const others = ['web-2', 'WEB-2', 'web\u200b-2', 'web-2\u3164', 'web-20'].map((name, index) => server(`sv_9${index}`, name))

    const found = namesakeWarnings(target, [target, ...others])

    const words = '4 other servers (sv_90, sv_91, sv_92 …) are also called web-2. Target: sv_2.'
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
