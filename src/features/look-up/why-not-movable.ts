import type { ElasticIp } from '../../domain/account/elastic-ip.ts'
import { whyNotMovable } from '../../domain/elastic-ip-move/check.ts'
import { moveWords } from '../../domain/elastic-ip-move/words.ts'
import { phraseWords } from '../../slack/text/phrase-words.ts'
import { type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'

/** Says why an Elastic IP can't be moved to any server now. Undefined if it can be. */
export function cannotMoveWords(elasticIp: ElasticIp): Mrkdwn | undefined {
  // The account API shows only by the id that an address is announced by BGP.
  if (elasticIp.id.startsWith('ueip_')) return mrkdwn`It is announced by BGP. The account API doesn't move such addresses.`
  const finding = whyNotMovable(elasticIp)
  return finding && phraseWords(moveWords(finding).phrase ?? [])
}
