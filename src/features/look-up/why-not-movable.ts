import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import { whyNotMovable } from '../../domain/elastic-ip-move/check.ts'
import { moveWords } from '../../domain/elastic-ip-move/words.ts'
import { endingWords } from '../../requests/messages/refusals/causes.ts'
import type { Mrkdwn } from '../../slack/text/text.ts'

/** Says why an Elastic IP can't be moved to any server now. Undefined if it can be. */
export function cannotMoveWords(elasticIp: ElasticIp): Mrkdwn | undefined {
  const finding = whyNotMovable(elasticIp)
  return finding && endingWords(moveWords(finding))
}
