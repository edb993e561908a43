import { test } from 'vitest'
import { expectWhole } from './runs-whole.ts'

test('the benchmark start-up runs to its end, and no figure is missing', () => expectWhole('start-up'))
