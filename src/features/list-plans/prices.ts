/** Shows a price for an hour or a month: `$0.007/h`, `EUR 5.11/mo`. Other currencies than the dollar go by their code, because symbols are shared. */
export function priceWords(amount: number, currency: string, per: 'h' | 'mo'): string {
  const number = (amount < 1 ? smallAmount : largeAmount).format(amount)
  return `${currency === 'USD' ? '$' : `${currency} `}${number}/${per}`
}

const smallAmount = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 4 })
const largeAmount = new Intl.NumberFormat('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
