import { z } from 'zod'
import { CheckFailed } from '../errors/errors.ts'

const address = z.string()
/** A server by hostname, or by id if it has no hostname. */
const server = z.string()
const place = z.object({ site: z.string(), project: z.string() })
/** The labels of two things that differ. `distinctLabels` makes them, so that the labels differ, too. */
const between = { before: z.string(), now: z.string() }

/** Everything that can prevent a move, stay unchecked before it, or end it. */
export const MoveFinding = z.discriminatedUnion('code', [
  z.object({ code: z.literal('no-elastic-ip'), elasticIpId: z.string(), address: z.string().optional() }),
  z.object({ code: z.literal('no-server'), serverId: z.string(), name: z.string().optional() }),
  z.object({ code: z.literal('bgp-address'), address }),
  z.object({ code: z.literal('already-moving'), address, server: server.optional() }),
  z.object({ code: z.literal('not-active'), address, status: z.string() }),
  z.object({ code: z.literal('already-there'), address, server }),
  z.object({ code: z.literal('other-project'), address, project: z.string(), server, serverProject: z.string() }),
  /** `holder`: the server that has the address, if the sites of two servers were compared. */
  z.object({ code: z.literal('other-site'), address, site: z.string(), server, serverSite: z.string(), holder: server.optional() }),

  z.object({ code: z.literal('elastic-ip-unread'), elasticIpId: z.string() }),
  z.object({ code: z.literal('server-unread'), serverId: z.string() }),
  z.object({ code: z.literal('status-not-shown'), address }),
  z.object({ code: z.literal('server-not-shown'), address }),
  /** `slug`: both have this slug, but different ids. */
  z.object({ code: z.literal('project-not-compared'), server, slug: z.string().optional() }),
  z.object({ code: z.literal('site-not-compared'), server, slug: z.string().optional() }),

  z.object({ code: z.literal('names-not-compared'), server }),

  z.object({ code: z.literal('server-not-on'), server, status: z.string() }),
  z.object({ code: z.literal('server-locked'), server }),
  /** `at`: in ms since 1970. */
  z.object({ code: z.literal('server-deletion-scheduled'), server, at: z.number() }),
  z.object({ code: z.literal('server-label'), server, label: z.string() }),
  /**
   * `count`: how many other servers have the name. `others`: the ids of up to three of them. `places`: where the only other one and the
   * target are, if people can tell these apart.
   */
  z.object({
    code: z.literal('same-name'),
    server,
    serverId: z.string(),
    others: z.array(z.string()),
    count: z.number(),
    places: z.object({ other: place, own: place }).optional(),
  }),
  z.object({ code: z.literal('hidden-characters'), serverId: z.string() }),

  z.object({ code: z.literal('id-changed'), ...between }),
  z.object({ code: z.literal('server-changed'), address, ...between }),
  /** The account showed no server at the request, and shows one now. */
  z.object({ code: z.literal('server-shown'), address, now: server }),
  z.object({ code: z.literal('address-changed'), ...between }),
  z.object({ code: z.literal('project-changed'), ...between }),

  /** After a move that is done. `server-was-not-on`: the server could not be read at the end. */
  z.object({ code: z.literal(['assigned-to-server-not-on', 'server-was-not-on']), server, status: z.string() }),

  z.object({ code: z.literal('elastic-ip-gone'), address }),
  z.object({ code: z.literal('status-error'), address }),
  z.object({ code: z.literal('being-released'), address }),
  z.object({ code: z.literal('back-on-old-server'), address, server }),
  z.object({ code: z.literal('still-on-old-server'), address, server }),
  z.object({ code: z.literal('moved-by-others'), address, server, isMoving: z.boolean() }),
])
export type MoveFinding = z.infer<typeof MoveFinding>

/** Whether an error is about the Elastic IP alone, so that another server would not help. */
export function isAboutElasticIp(error: unknown): boolean {
  const own: MoveFinding['code'][] = ['no-elastic-ip', 'bgp-address', 'already-moving', 'not-active']
  return error instanceof CheckFailed && own.some((code) => code === error.finding.code)
}
