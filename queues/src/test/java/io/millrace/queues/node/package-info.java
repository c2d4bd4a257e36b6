/** Tests of execution nodes, alone and a hundred of them in virtual time. */
@org.jspecify.annotations.NullMarked
package io.millrace.queues.node;
