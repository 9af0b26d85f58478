/* A driver of Vulkan that fails where drivers do: as a program asks for an instance. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int create(void)
{
    FILE *calls = fopen(CALLS, "a");
    if (calls) {
        fputs("asked\n", calls);
        fclose(calls);
    }
    if (HANGS)
        for (;;)
            sleep(60);
    abort();
}

static int extensions(const char *layer, uint32_t *count, void *properties)
{
    *count = 0;
    return 0;
}

int vk_icdNegotiateLoaderICDInterfaceVersion(uint32_t *version)
{
    if (*version > 5)
        *version = 5;
    return 0;
}

void *vk_icdGetInstanceProcAddr(void *instance, const char *name)
{
    if (!strcmp(name, "vkCreateInstance"))
        return (void *)create;
    return strcmp(name, "vkEnumerateInstanceExtensionProperties") ? NULL : (void *)extensions;
}
