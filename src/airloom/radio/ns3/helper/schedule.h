// What ns-3 has yet to do: its own list of events, which lets nobody look at it, made to tell when the next one is.

#pragma once

#include "ns3/core-module.h"

#include <limits>

using namespace ns3;

class Schedule : public MapScheduler
{
  public:
    static TypeId GetTypeId()
    {
        static TypeId id = TypeId("airloom::Schedule").SetParent<MapScheduler>().AddConstructor<Schedule>();
        return id;
    }

    // Before anything is planned.
    static void Use()
    {
        ObjectFactory factory;
        factory.SetTypeId(GetTypeId());
        Simulator::SetScheduler(factory);
    }

    // ns; the end of time if nothing is planned.
    static int64_t NextEvent()
    {
        if (!s_used || s_used->IsEmpty())
        {
            return std::numeric_limits<int64_t>::max();
        }
        return TimeStep(s_used->PeekNext().key.m_ts).GetNanoSeconds();
    }

    Schedule()
    {
        s_used = this;
    }

    ~Schedule() override
    {
        s_used = s_used == this ? nullptr : s_used;
    }

  private:
    static inline Schedule* s_used = nullptr;
};
