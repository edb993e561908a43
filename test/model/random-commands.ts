import fc from 'fast-check'
import { type Command, change, type PlannedPress, type PressOptions, press, requestChange } from './commands.ts'
import { arrive, crash, tick } from './happenings.ts'
import type { Fault } from './replicas.ts'
import { type Button, buttons, type Forgery, type ModelRequest } from './request-model.ts'
import { type Group, movers, type Name, names } from './staff.ts'

const anybody = fc.constantFrom(...names)
/** People with more rights act more often. */
const somebody = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom<Name>('ada', 'ben', 'chiara', 'finn', 'gita') },
  { weight: 2, arbitrary: anybody },
)
const someButton = fc.oneof<[fc.WeightedArbitrary<Button>, fc.WeightedArbitrary<Button>]>(
  { weight: 2, arbitrary: fc.constant('approve') },
  { weight: 3, arbitrary: fc.constantFrom(...buttons) },
)
const someForgery = fc.oneof<[fc.WeightedArbitrary<undefined>, fc.WeightedArbitrary<Forgery>]>(
  { weight: 9, arbitrary: fc.constant(undefined) },
  { weight: 1, arbitrary: fc.constantFrom('hash', 'id', 'copy') },
)
const onePress: fc.Arbitrary<PlannedPress> = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ person: somebody, button: someButton, forged: someForgery, replica: fc.nat(1), again: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ person: fc.constant('requester'), button: fc.constantFrom(...buttons), replica: fc.nat(1) }) },
)
/** Several people at once, one person twice, or several approvers. */
const somePresses = fc.oneof(
  fc.array(onePress, { minLength: 1, maxLength: 4 }),
  onePress.map((one): PlannedPress[] => [one, { ...one, replica: one.replica + 1 }]),
  fc
    .uniqueArray(somebody, { minLength: 2, maxLength: 4 })
    .map((people) => people.map((person, replica): PlannedPress => ({ person, button: 'approve', replica }))),
)
const someOptions: fc.Arbitrary<PressOptions> = fc.record({
  prefer: fc.constantFrom('waiting', 'waiting', 'tracking', 'untracked', undefined),
  settled: fc.boolean(),
  timePasses: fc.nat(9).map((one) => one === 0),
  submits: fc.boolean(),
})
const someKind = fc.constantFrom<ModelRequest['kind']>('ip.move', 'vm.rename')

/** The first exchanges with Redis belong to the clicks, the later ones to what follows. */
const someBefore = fc.constantFrom(0, 0, 0, 1, 1, 2, 2, 3, 4, 6)
const someFault: fc.Arbitrary<Fault | undefined> = fc.oneof(
  { weight: 42, arbitrary: fc.constant(undefined) },
  { weight: 5, arbitrary: fc.record({ is: fc.constant('lose'), replica: fc.nat(1), before: someBefore }) },
  { weight: 1, arbitrary: fc.record({ is: fc.constant('crash'), replica: fc.nat(1), before: someBefore }) },
)

const someAsking = fc
  .tuple(someKind, fc.nat(3), fc.uniqueArray(anybody, { minLength: 1, maxLength: 3 }), someFault)
  .map(([kind, number, requesters, fault]) => requestChange(kind, number, requesters, fault))

const someCommand = fc.oneof(
  { weight: 16, arbitrary: someAsking },
  {
    weight: 64,
    arbitrary: fc
      .tuple(fc.nat(20), somePresses, someOptions, someFault)
      .map(([number, presses, how, fault]) => press(number, presses, how, fault)),
  },
  { weight: 16, arbitrary: fc.nat(20).map(arrive) },
  { weight: 4, arbitrary: fc.tuple(fc.nat(20), fc.boolean()).map(([number, runsOut]) => tick(number, runsOut)) },
  {
    weight: 16,
    arbitrary: fc
      .tuple(fc.constantFrom<Group>('oncall', 'security'), fc.constantFrom(...movers))
      .map(([group, person]) => change(group, person)),
  },
  { weight: 1, arbitrary: fc.nat(1).map(crash) },
)

/** Draws this many commands. The first one requests something, because there is little to do without a request. */
export function someRun(steps: number): fc.Arbitrary<Command[]> {
  const others = fc.array(someCommand, { minLength: steps - 1, maxLength: steps - 1 })
  return fc.noBias(fc.tuple(someAsking, others)).map(([first, rest]) => [first, ...rest])
}
