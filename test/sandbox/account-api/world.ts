import { randomBytes } from 'node:crypto'
import { type ApiKeyRow, type ElasticIpRow, type MoveEnd, type ServerRow, seedAccount } from './seed.ts'

export interface MovePlan {
  takesMs?: number
  endsIn?: MoveEnd
}

export interface EventRow {
  id: string
  action: string
  target: { id: string; name: string }
  author: { id: string; name: string; email: string }
  createdAt: string
}

export interface WorldOptions {
  /** How long a move takes, in ms. */
  moveTakes: { min: number; max: number }
  now: () => number
}

/** What the account consists of, and what happens to it by itself: moves end when their time has come. */
export function createWorld({ moveTakes, now }: WorldOptions) {
  const account = seedAccount()
  const keys: ApiKeyRow[] = []
  const events: EventRow[] = []
  const planned: MovePlan[] = []

  function settle(): void {
    for (const elasticIp of account.elasticIps) {
      const { move } = elasticIp
      if (!move || now() < move.endsAt || move.endsIn === 'never') continue
      delete elasticIp.move
      elasticIp.status = { active: 'active', error: 'error', released: 'releasing', 'no-server': 'active', never: 'moving' }[move.endsIn]
      if (move.endsIn === 'no-server') elasticIp.serverId = null
    }
  }

  function elasticIps(): ElasticIpRow[] {
    settle()
    return account.elasticIps
  }

  function elasticIp(id: string): ElasticIpRow | undefined {
    return elasticIps().find((candidate) => candidate.id === id || candidate.address === id)
  }

  function server(id: string | null): ServerRow | undefined {
    return account.servers.find((candidate) => candidate.id === id)
  }

  function startMove(target: ElasticIpRow, serverId: string): void {
    const { takesMs = moveTakes.min + Math.random() * (moveTakes.max - moveTakes.min), endsIn = 'active' } = planned.shift() ?? {}
    target.move = { endsAt: now() + takesMs, endsIn, fromServerId: target.serverId }
    target.status = 'moving'
    target.serverId = serverId
    note('elastic_ip.move', { id: target.id, name: target.address })
  }

  function note(action: string, target: EventRow['target'], author = 'lockkeeper@nimbus-works.example'): void {
    events.unshift({
      id: `evt_${randomBytes(6).toString('hex')}`,
      action,
      target,
      author: { id: 'user_bot', name: 'Lockkeeper', email: author },
      createdAt: new Date(now()).toISOString(),
    })
  }

  /** What a person does in the dashboard: the Elastic IP is on that server at once, active. */
  function moveBehindOurBack(id: string, serverId: string): void {
    const target = must(elasticIp(id), id)
    delete target.move
    target.status = 'active'
    target.serverId = serverId
    note('elastic_ip.move', { id: target.id, name: target.address }, 'chiara@nimbus-works.example')
  }

  function release(id: string): void {
    account.elasticIps = account.elasticIps.filter((candidate) => candidate.id !== must(elasticIp(id), id).id)
  }

  /** Servers that an Elastic IP could be moved to. */
  function targetsOf(target: ElasticIpRow): ServerRow[] {
    return account.servers.filter(
      (candidate) =>
        candidate.id !== target.serverId &&
        candidate.project.id === target.project.id &&
        candidate.site.id === server(target.serverId)?.site.id,
    )
  }

  /** An active Elastic IP and a server that it can be moved to, whose hostname is unique in its project. */
  function movable(skip = 0): { elasticIp: ElasticIpRow; target: ServerRow } {
    const all = elasticIps()
      .filter((candidate) => candidate.status === 'active' && candidate.serverId !== null)
      .flatMap((candidate) =>
        targetsOf(candidate)
          .slice(0, 1)
          .map((target) => ({ elasticIp: { ...candidate }, target })),
      )
    return must(all[skip], 'a movable Elastic IP')
  }

  function elsewhere(fits: (candidate: ServerRow, target: ElasticIpRow) => boolean) {
    const { elasticIp: target } = movable()
    return {
      elasticIp: target,
      target: must(
        account.servers.find((candidate) => fits(candidate, target)),
        'a server elsewhere',
      ),
    }
  }

  return {
    account,
    keys,
    events,
    elasticIps,
    elasticIp,
    server,
    startMove,
    note,
    /** How the next move goes; several are used up in turn. */
    nextMove: (plan: MovePlan) => void planned.push(plan),
    moveBehindOurBack,
    release,
    movable,
    inAnotherSite: () =>
      elsewhere(
        (candidate, target) => candidate.project.id === target.project.id && candidate.site.id !== server(target.serverId)?.site.id,
      ),
    inAnotherProject: () =>
      elsewhere(
        (candidate, target) => candidate.project.id !== target.project.id && candidate.site.id === server(target.serverId)?.site.id,
      ),
    /** A server that the Elastic IP is not on and `movable` does not choose. */
    third: (id: string): ServerRow => {
      const candidates = targetsOf(must(elasticIp(id), id))
      return must(candidates.at(-1), 'a third server')
    },
  }
}
export type World = ReturnType<typeof createWorld>

function must<T>(value: T | undefined, what: string): T {
  if (value === undefined) throw new Error(`the stand-in account has no ${what}`)
  return value
}
