import { expect, test } from 'vitest'
import { denialCodes } from '../../../src/domain/approval.ts'
import { refusalCodes } from '../../../src/domain/codes.ts'

test('each denial is a refusal', () => {
  expect([...denialCodes].filter((code) => !Object.hasOwn(refusalCodes, code))).toEqual([])
})
