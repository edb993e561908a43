import type { Config } from '../config/config.ts'
import type { Timings } from '../domain/timings.ts'
import type { Clients } from './clients.ts'
import type { Instruments } from './instruments.ts'
import type { OperatorNotices } from './operator-notices.ts'
import type { RedisSide } from './redis-side.ts'
import type { RequestsSide } from './requests-side.ts'

/** What the people's side, the workers' side and the operators' side are made from. */
export interface Parts {
  config: Config
  timings: Timings
  instruments: Instruments
  redis: RedisSide
  clients: Clients
  notices: OperatorNotices
  requests: RequestsSide
}
