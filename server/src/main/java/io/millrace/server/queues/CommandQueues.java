package io.millrace.server.queues;

import io.millrace.queues.ObjectId;
import io.millrace.queues.OutputReader;
import io.millrace.queues.QueueBackend;
import io.millrace.queues.QueueTask;
import io.millrace.queues.search.TaskFinder;
import io.millrace.work.Watch;
import java.util.Collection;
import java.util.function.Function;
import tools.jackson.databind.node.ObjectNode;

/**
 * Queues outside the store of a server, which its command interface serves instead of its own.
 *
 * @param queues the queues
 * @param search finds their tasks
 * @param outputs reads the outputs of their tasks
 * @param documents the documents of a collection of users; throws an {@code
 *     InvalidRequestException} if it is one of the system's own
 * @param watch begins to watch tasks until they have ended
 */
public record CommandQueues(
    QueueBackend queues,
    TaskFinder search,
    OutputReader outputs,
    Function<String, Iterable<ObjectNode>> documents,
    Function<Collection<ObjectId>, Watch<ObjectId, QueueTask>> watch) {}
