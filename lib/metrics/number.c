/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Numbers of metrics as text. */

#include "metrics-private.h"

char *metrics_put_digits(char *end, uint64_t n)
{
	do
		*--end = (char)('0' + n % 10);
	while ((n /= 10) > 0);
	return end;
}

/* How many digits there are behind the point after a division by DIVISOR, a power of ten or 8. */
static unsigned int count_digits(uint64_t divisor)
{
	unsigned int n = 0;

	if (divisor == 8)
		return 3;
	for (; divisor > 1; divisor /= 10)
		n++;
	return n;
}

const char *metric_number_format(MetricNumber n, char ret[METRIC_NUMBER_MAX])
{
	unsigned int digits = count_digits(n.divisor);
	uint64_t fraction = n.value % n.divisor * (n.divisor == 8 ? 125 : 1);
	char text[METRIC_NUMBER_MAX], *const end = text + sizeof(text), *p = end;

	/* from the last digit to the first, without zeros at the end */
	for (; digits > 0; digits--, fraction /= 10)
		if (fraction % 10 > 0 || p < end)
			*--p = (char)('0' + fraction % 10);
	if (p < end)
		*--p = '.';
	p = metrics_put_digits(p, n.value / n.divisor);
	if (n.negative)
		*--p = '-';
	*(char *)mempcpy(ret, p, (size_t)(end - p)) = '\0';
	return ret;
}
