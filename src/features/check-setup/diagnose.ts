import { accountApi, elasticIps, limits, policy } from './checks/account-api.ts'
import { alerts } from './checks/alerts.ts'
import { channels, groups, notices } from './checks/channels.ts'
import { clock, redis, workers } from './checks/operations.ts'
import type { CheckResult } from './checks/result.ts'
import { buttons, command, manifest, pickers, scopes, slack } from './checks/slack.ts'
import type { SetupFacts } from './facts.ts'

/** Checks each part of a set-up, in a fixed order. */
export function diagnose(facts: SetupFacts): CheckResult[] {
  return [
    slack(facts),
    scopes(facts),
    manifest(facts),
    ...command(facts),
    buttons(facts),
    pickers(facts),
    ...channels(facts),
    ...notices(facts),
    ...groups(facts),
    ...alerts(facts),
    redis(facts),
    ...accountApi(facts),
    limits(facts),
    ...policy(facts),
    ...elasticIps(facts),
    clock(facts),
    workers(facts),
  ]
}
