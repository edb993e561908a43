import { describe, expect, test } from 'vitest'
import { toGroup } from '../../../src/domain/policy.ts'
import { namesOfApprovers, whoApproves, whoIsIn } from '../../../src/messages/words.ts'
import { terms } from '../../domain/people-for-test.ts'

describe('who approves, in words', () => {
  test.each([
    ['<@UBEN>', terms(['UBEN'])],
    ['<@UBEN> or <!subteam^SONCALL>', terms(['UBEN', 'SONCALL'])],
    ['<@UBEN>, <@UCHI> or <!subteam^SONCALL>', terms(['SONCALL', 'UBEN', 'UCHI'])],
    ['2 of <@UBEN>, <@UCHI> or <!subteam^SONCALL>', terms(['UBEN', 'UCHI', 'SONCALL'], { approvals: 2 })],
    ['<!subteam^SNET> and <!subteam^SSEC>', terms([], { allOf: ['SNET', 'SSEC'] })],
    ['<!subteam^SNET>, <!subteam^SSEC> and <@UBEN>', terms([], { allOf: ['SNET', 'SSEC', 'UBEN'] })],
    ['<!subteam^SNET>, and 1 more of <@UCHI> or <@UDOV>', terms(['UCHI', 'UDOV'], { allOf: ['SNET'], approvals: 2 })],
    ['Nobody', terms([])],
  ])('%s', (words, each) => {
    expect(whoApproves(each).text).toBe(words)
  })

  test('by name, for a text that must not mention anybody', () => {
    const names = new Map([['UBEN', '@ben']])
    expect(namesOfApprovers(terms(['UBEN', 'SONCALL']), (id) => names.get(id) ?? id)).toBe('@ben or SONCALL')
  })

  test('a group of people is listed with each of them', () => {
    expect(whoIsIn(toGroup(['UBEN', 'SONCALL', 'UCHI'])).text).toBe('<@UBEN>, <@UCHI> and <!subteam^SONCALL>')
    expect(whoIsIn(toGroup([])).text).toBe('')
  })
})
