import type { Data, ElasticIpState, MoveEnd, MovePhase, ServerState, VirtualMachineState } from './data.ts'

export interface NextMove {
  takesMs?: number
  /** `released`: becomes `releasing`. `returned`: active on the old server again. */
  endsIn?: MoveEnd
}

export interface WorldOptions {
  data: Data
  /** In ms. */
  moveTakes: { min: number; max: number }
  /** What reads show during a move, each for an equal part of its time. */
  movePhases: MovePhase[]
  now: () => number
}

/**
 * The state of the stand-in account, for its routes, and for tests that read it or change it without the bot. It has no timers: a move ends
 * at the first read after its time. Returned objects are copies.
 */
export function createWorld({ data, moveTakes, movePhases, now }: WorldOptions) {
  const planned: NextMove[] = []
  const issuedTokens: string[] = []

  function findElasticIp(id: string): ElasticIpState | undefined {
    const found = data.elasticIps.find((elasticIp) => elasticIp.id === id)
    return found && settle(found)
  }

  function liveElasticIp(id: string): ElasticIpState {
    const found = findElasticIp(id)
    if (!found) throw new Error(`the stand-in has no Elastic IP ${id}`)
    return found
  }

  function settle(elasticIp: ElasticIpState): ElasticIpState {
    const { move } = elasticIp
    if (move && move.endsIn !== 'never' && move.endsAt <= now()) end(elasticIp, move.endsIn)
    return elasticIp
  }

  function end(elasticIp: ElasticIpState, how: MoveEnd) {
    elasticIp.status = how === 'error' ? 'error' : how === 'released' ? 'releasing' : 'active'
    if (how === 'returned') elasticIp.serverId = elasticIp.move?.from ?? null
    delete elasticIp.move
  }

  /** Returns what a read shows now. A server that is not active is not shown. */
  function shown(elasticIp: ElasticIpState): { status: string; serverId: string | null } {
    const { move, serverId, status } = elasticIp
    const phase = move && phaseOf(move)
    const shownId = { target: serverId, from: move?.from ?? null, none: null }[phase?.server ?? 'target']
    return { status: phase?.status ?? status, serverId: serverOf(shownId)?.dead ? null : shownId }
  }

  function phaseOf({ phases, startedAt, endsAt, endsIn }: NonNullable<ElasticIpState['move']>): MovePhase | undefined {
    const share = endsIn === 'never' ? 1 : (now() - startedAt) / (endsAt - startedAt)
    return phases[Math.min(Math.floor(share * phases.length), phases.length - 1)]
  }

  function moveBehindOurBack(id: string, serverId: string): void {
    const elasticIp = liveElasticIp(id)
    end(elasticIp, 'active')
    elasticIp.serverId = serverId
  }

  function setServer(id: string, change: Partial<ServerState>): void {
    const server = serverOf(id)
    if (!server) throw new Error(`the stand-in has no server ${id}`)
    Object.assign(server, change)
  }

  function serverOf(id: string | null): ServerState | undefined {
    return data.servers.find((server) => server.id === id)
  }

  /**
   * Returns the possible targets of an Elastic IP: servers that are on and not locked, in its project and site, except for those of its
   * current move.
   */
  function targetsFor(elasticIp: ElasticIpState): ServerState[] {
    return data.servers.filter(
      (server) =>
        server.projectId === elasticIp.projectId &&
        server.site === elasticIp.site &&
        server.status === 'on' &&
        !server.locked &&
        !server.networkIncompatible &&
        server.id !== elasticIp.serverId &&
        server.id !== elasticIp.move?.from,
    )
  }

  /** Returns the first active Elastic IP on a server for which `pick` finds a target, after `skip` others. */
  function pairOf(pick: (elasticIp: ElasticIpState) => ServerState | undefined, skip = 0) {
    const pairs = data.elasticIps.map(settle).flatMap((elasticIp) => {
      const target = elasticIp.status === 'active' && elasticIp.serverId !== null ? pick(elasticIp) : undefined
      return target ? [{ elasticIp, target }] : []
    })
    const pair = pairs[skip]
    if (!pair) throw new Error('the stand-in has no such pair of an Elastic IP and a server')
    return structuredClone(pair)
  }

  return {
    data,
    issuedTokens,
    now,

    shown,
    elasticIp: (id: string) => structuredClone(findElasticIp(id)),
    elasticIps: () => data.elasticIps.map((elasticIp) => structuredClone(settle(elasticIp))),
    server: (id: string) => structuredClone(serverOf(id)),
    virtualMachine: (id: string) => structuredClone(data.virtualMachines.find((machine) => machine.id === id)),

    /** Returns an Elastic IP and a server that it can be moved to. The same pair until something changes. */
    movable: (skip = 0) => pairOf((elasticIp) => targetsFor(elasticIp)[0], skip),
    inAnotherSite: () =>
      pairOf((elasticIp) => data.servers.find(({ projectId, site }) => projectId === elasticIp.projectId && site !== elasticIp.site)),
    inAnotherProject: () =>
      pairOf((elasticIp) => data.servers.find(({ projectId, site }) => projectId !== elasticIp.projectId && site === elasticIp.site)),
    /** Returns a server that it could be moved to, other than the one of `movable` and those of a current move. */
    third(elasticIpId: string): ServerState {
      const [first, second, ...rest] = targetsFor(liveElasticIp(elasticIpId))
      const third = rest.at(-1) ?? second ?? first
      if (!third) throw new Error(`the stand-in has no third server for ${elasticIpId}`)
      return structuredClone(third)
    },

    /** Orders the course of the next accepted move. Several orders are used in turn. */
    nextMove: (next: NextMove) => void planned.push(next),
    startMove(id: string, serverId: string): void {
      const elasticIp = liveElasticIp(id)
      const { takesMs, endsIn = 'active' } = planned.shift() ?? {}
      const ms = takesMs ?? moveTakes.min + Math.random() * (moveTakes.max - moveTakes.min)
      elasticIp.move = { from: elasticIp.serverId, startedAt: now(), endsAt: now() + ms, endsIn, phases: movePhases }
      elasticIp.status = 'moving'
      elasticIp.serverId = serverId
    },
    endMove(id: string, how: MoveEnd = 'active'): void {
      end(liveElasticIp(id), how)
    },
    /** Moves it like another user of the account. The move is over. */
    moveBehindOurBack,
    remove(id: string): void {
      data.elasticIps.splice(data.elasticIps.indexOf(liveElasticIp(id)), 1)
    },
    killServer: (id: string) => setServer(id, { status: 'off', dead: true }),
    /** Makes it active again: Elastic IPs that were not moved meanwhile show it again. */
    reviveServer: (id: string) => setServer(id, { status: 'on', dead: false }),
    changeVirtualMachine(id: string, change: Partial<VirtualMachineState>): void {
      const machine = data.virtualMachines.find((one) => one.id === id)
      if (!machine) throw new Error(`the stand-in has no virtual machine ${id}`)
      Object.assign(machine, change)
    },
  }
}
export type World = ReturnType<typeof createWorld>
