/* SPDX-License-Identifier: Apache-2.0 */
#include "codecs/ete/elements.h"

#include "codecs/ete/errors.h"

/* One packet on its way; the first error stays. */
struct put {
	struct hf_ete_resolve *r;
	const struct hf_ete_packet *packet;
	const struct hf_ete_meaning *meaning;
	uint64_t offset;
	int err;
};

static void push(struct put *put, struct hf_ete_element element)
{
	element.offset = put->offset;
	if (!put->err)
		put->err = hf_ete_resolve_push(put->r, &element);
}

static void put_atoms(struct put *put)
{
	const struct hf_ete_packet *packet = put->packet;

	if (!put->err)
		put->err = hf_ete_resolve_push_atoms(put->r, packet->atoms, packet->atom_count, put->offset);
}

static void put_simple(struct put *put, unsigned kind)
{
	push(put, (struct hf_ete_element){.kind = (uint8_t)kind});
}

static void put_address(struct put *put, unsigned kind)
{
	push(put, (struct hf_ete_element){
			  .kind = (uint8_t)kind, .value = put->meaning->address, .is = put->meaning->is});
}

static void put_context(struct put *put)
{
	const struct hf_ete_context *context = &put->meaning->context;

	push(put, (struct hf_ete_element){.kind = HF_ETE_EL_CONTEXT,
					  .info = context->byte,
					  .count = context->cid,
					  .extra = context->vmid});
}

/* E1E0 10: the exception came before anything executed at the target of the last branch, which is the same address. */
static void put_exception(struct put *put)
{
	const struct hf_ete_packet *packet = put->packet;

	if (packet->info == HF_ETE_EXC_TRANSACTION_FAILURE) {
		put_simple(put, HF_ETE_EL_TRANSACTION_FAILURE);
		return;
	}
	if (packet->flags & HF_ETE_HAS_TARGET && packet->address.form != HF_ETE_ADDRESS_UNKNOWN)
		put_address(put, HF_ETE_EL_TARGET);
	if (packet->flags & HF_ETE_HAS_CONTEXT)
		put_context(put);
	/* Where an M core was reset its address tells nothing. */
	push(put, (struct hf_ete_element){
			  .kind = HF_ETE_EL_EXCEPTION,
			  .info = packet->info,
			  .flags = packet->address.form == HF_ETE_ADDRESS_UNKNOWN || packet->info == HF_ETE_M_RESET ?
					   0 : HF_ETE_EL_KNOWN,
			  .value = put->meaning->address,
			  .is = put->meaning->is,
		  });
}

static void put_q(struct put *put)
{
	const struct hf_ete_packet *packet = put->packet;

	push(put, (struct hf_ete_element){
			  .kind = HF_ETE_EL_Q,
			  .flags = packet->flags & HF_ETE_HAS_COUNT ? HF_ETE_EL_KNOWN : 0,
			  .count = packet->count,
		  });
	if (packet->address.form != HF_ETE_ADDRESS_NONE)
		put_address(put, HF_ETE_EL_TARGET);
}

static void commit(struct put *put, uint32_t n)
{
	if (!put->err)
		put->err = hf_ete_resolve_commit(put->r, n);
}

static void put_cycles(struct put *put, uint32_t threshold)
{
	const struct hf_ete_packet *packet = put->packet;

	if (packet->flags & HF_ETE_HAS_COMMIT)
		commit(put, packet->commit);
	push(put, (struct hf_ete_element){
			  .kind = HF_ETE_EL_CYCLES,
			  .flags = packet->flags & HF_ETE_HAS_COUNT ? HF_ETE_EL_KNOWN : 0,
			  .value = (uint64_t)packet->count + threshold,
		  });
}

static void mispredict(struct put *put)
{
	if (!put->err && !hf_ete_resolve_mispredict(put->r))
		push(put, (struct hf_ete_element){.kind = HF_ETE_EL_NOTE,
						  .flags = HF_ETE_EL_DOUBT,
						  .extra = -HF_ERR_ETE_MISPREDICT});
}

static void cancel(struct put *put)
{
	put_atoms(put);
	if (!put->err)
		put->err = hf_ete_resolve_cancel(put->r, put->packet->cancel);
	if (put->packet->flags & HF_ETE_HAS_MISPREDICT)
		mispredict(put);
}

static void put_events(struct put *put)
{
	for (uint8_t i = 0; i < 4; i++)
		if (put->packet->info >> i & 1)
			push(put, (struct hf_ete_element){.kind = HF_ETE_EL_EVENT, .info = i});
}

int hf_ete_elements_put(struct hf_ete_resolve *r, const struct hf_ete_packet *packet,
			const struct hf_ete_meaning *meaning, uint32_t threshold, uint64_t offset)
{
	struct put put = {.r = r, .packet = packet, .meaning = meaning, .offset = offset};

	switch (packet->kind) {
	case HF_ETE_ATOM: put_atoms(&put); break;
	case HF_ETE_TARGET: put_address(&put, HF_ETE_EL_TARGET); break;
	case HF_ETE_TARGET_CONTEXT:
		put_address(&put, HF_ETE_EL_TARGET);
		put_context(&put);
		break;
	case HF_ETE_CONTEXT: put_context(&put); break;
	case HF_ETE_EXCEPTION: put_exception(&put); break;
	case HF_ETE_EXCEPTION_RETURN: put_simple(&put, HF_ETE_EL_EXCEPTION_RETURN); break;
	case HF_ETE_FUNCTION_RETURN: put_simple(&put, HF_ETE_EL_FUNCTION_RETURN); break;
	case HF_ETE_SOURCE: put_address(&put, HF_ETE_EL_SOURCE); break;
	case HF_ETE_Q: put_q(&put); break;
	case HF_ETE_TRACE_ON: put_simple(&put, HF_ETE_EL_TRACE_ON); break;
	case HF_ETE_TRACE_INFO: put_simple(&put, HF_ETE_EL_TRACE_INFO); break;
	case HF_ETE_TRANSACTION_START: put_simple(&put, HF_ETE_EL_TRANSACTION_START); break;
	case HF_ETE_TRANSACTION_COMMIT: put_simple(&put, HF_ETE_EL_TRANSACTION_COMMIT); break;
	case HF_ETE_COMMIT: commit(&put, packet->commit); break;
	case HF_ETE_CANCEL_F1:
	case HF_ETE_CANCEL_F2:
	case HF_ETE_CANCEL_F3: cancel(&put); break;
	case HF_ETE_MISPREDICT:
		put_atoms(&put);
		mispredict(&put);
		break;
	case HF_ETE_CYCLE_COUNT_F1:
	case HF_ETE_CYCLE_COUNT_F2:
	case HF_ETE_CYCLE_COUNT_F3: put_cycles(&put, threshold); break;
	case HF_ETE_TIMESTAMP:
		push(&put, (struct hf_ete_element){.kind = HF_ETE_EL_TIMESTAMP, .value = meaning->timestamp});
		break;
	case HF_ETE_TIMESTAMP_MARKER: put_simple(&put, HF_ETE_EL_MARKER); break;
	case HF_ETE_EVENT: put_events(&put); break;
	case HF_ETE_INSTRUMENTATION:
		push(&put, (struct hf_ete_element){
				   .kind = HF_ETE_EL_INSTRUMENTATION, .info = packet->info, .value = packet->value});
		break;
	default: break;
	}
	return put.err;
}
