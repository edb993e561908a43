import type { KnownBlock } from '@slack/web-api'
import { actions, button, context, wholeSection } from '../../slack/blocks/blocks.ts'
import { externalSelect } from '../../slack/blocks/inputs.ts'
import { limitBlocks, message } from '../../slack/blocks/message.ts'
import { mostCharacters } from '../../slack/text/characters.ts'
import { joinMrkdwn, type Mrkdwn, mrkdwn } from '../../slack/text/text.ts'
import type { Message } from '../../slack/web-api/messenger.ts'
import type { CheckResult } from './checks/result.ts'
import { heading, testIds, tests } from './messages.ts'

const order = { wrong: 0, unknown: 1, ok: 2 } as const
const signs = { wrong: ':x:', unknown: ':grey_question:', ok: ':white_check_mark:' } as const

// Two blocks of a message, and their words, are kept for the tests that people can run.
const limits = { most: 48, characters: mostCharacters - 100 } as const

/** Lists what is wrong first. Below the list are a button and a picker, which prove that clicks and option loads arrive. */
export function report(bot: string, results: CheckResult[]): Message {
  const wrong = results.filter((result) => result.is === 'wrong').length
  const unsure = results.filter((result) => result.is === 'unknown').length
  const title = heading({ wrong, unsure, all: results.length })
  const about = mrkdwn`Lockkeeper ${bot}`
  const lines = results.toSorted((a, b) => order[a.is] - order[b.is]).map(line)
  const content = [...wholeSection(title), ...context([about]), ...lines.flatMap(wholeSection)]
  const blocks = [...limitBlocks(content, limits), ...testElements()]
  return message({ text: joinMrkdwn([title, about, ...lines], '\n'), blocks })
}

function line({ is, what, words, fix }: CheckResult): Mrkdwn {
  const toDo = fix ? mrkdwn` ${is === 'wrong' ? mrkdwn`*To mend it:* ` : ''}${fix}` : ''
  return mrkdwn`${signs[is]} *${what}* ${words}${toDo}`
}

function testElements(): KnownBlock[] {
  const picker: KnownBlock = {
    type: 'actions',
    elements: [externalSelect({ actionId: testIds.picker, placeholder: tests.picker })],
  }
  return [...actions([button({ text: tests.button, actionId: testIds.button, value: 'test' })]), picker]
}
