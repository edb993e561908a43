/** The state of the stand-in, from which answers are made. Times are milliseconds since 1970. */
export interface Project {
  id: string
  name: string
  slug: string
}

/** A place has a different id and name on each kind of object. Only the slug is the same. */
export interface Site {
  /** `ASH` */
  slug: string
  /** On Elastic IPs, as `region.location`. */
  onElasticIps: { id: string; name: string }
  /** On servers, as `region.site`. */
  onServers: { id: string; name: string }
  region: { id: string; name: string }
  /** False: the account API answers SITE_NOT_SUPPORTED. */
  elasticIps: boolean
}

export interface ServerState {
  id: string
  hostname: string
  label: string | null
  primaryIpv4: string
  status: string
  locked: boolean
  operatingSystem: string
  projectId: string
  /** Slug. */
  site: string
  /** True: the account API answers SERVER_NETWORK_INCOMPATIBLE. */
  networkIncompatible: boolean
  scheduledDeletionAt?: number
  /** The server is not active, so its Elastic IPs show no server. */
  dead?: boolean
}

export type MoveEnd = 'active' | 'error' | 'never' | 'released' | 'unassigned' | 'returned'

export interface ElasticIpState {
  id: string
  address: string
  family: string
  prefixLength: number
  mode: string
  status: string
  serverId: string | null
  projectId: string
  /** Slug. Null while it is unknown. */
  site: string | null
  createdAt: number
  /** Reads show neither the id nor the address yet. */
  provisioning?: boolean
  /** Set while it is `moving`. `serverId` is the target already. */
  move?: { from: string | null; startedAt: number; endsAt: number; endsIn: MoveEnd; phases: MovePhase[] } | undefined
}

/** What reads show during a part of a move. The documents do not say which server reads show then, so the stand-in can show any. */
export interface MovePhase {
  /** Default: `moving`. */
  status?: string
  server: 'target' | 'from' | 'none'
}

export interface VirtualMachineState {
  id: string
  name: string
  status: string
  primaryIpv4: string
  operatingSystem: { name: string; slug: string; version: string } | null
  /** Slug. */
  site: string
  billing: string
  plan: { id: string; name: string; slug: string }
  specs: { vcpu: number; ram: string; storage: string; nic: string; gpu: string | null }
  projectId: string
  createdAt: number
}

export interface ApiKeyState {
  id: string
  name: string
  /** The token exists only here, in memory. */
  token: string
  readOnly: boolean
  allowedIps: string[] | null
  createdAt: number
  updatedAt: number
  lastUsedAt: number | null
  user: { id: string; email: string }
}

export interface EventState {
  id: string
  action: string
  target: { id: string; name: string | null }
  author: { id: string; name: string; email: string }
  createdAt: number
}

/** Resources that never change are kept in the shape in which they are sent. */
export interface FixedResource {
  id: string
  type: string
  attributes: Record<string, unknown>
}

export interface Data {
  projects: Project[]
  sites: Site[]
  servers: ServerState[]
  elasticIps: ElasticIpState[]
  virtualMachines: VirtualMachineState[]
  plans: FixedResource[]
  baselines: FixedResource[]
  apiKeys: ApiKeyState[]
}
